import { HORIZONTAL_POD_AUTOSCALERS_V1, isJsonObject, isNotFound, type KubeObject } from '@asterism/machinery';
import type { Cluster } from '@asterism/runtime';
import { RETAIN_REPLICAS_LABEL } from '../../api/index.ts';
import { kindKey } from '../interpret/kind-key.ts';

/** Ours, and the one by which templates that were written for Karmada say the same. */
const RETAIN_LABELS = [RETAIN_REPLICAS_LABEL, 'resourcetemplate.karmada.io/retain-replicas'] as const;

/**
 * The manifest with the replicas that whoever scales the object in the member has given to it, so that applying it scales nothing back;
 * the manifest itself where nobody does. That is an autoscaler of the member, or anybody, where a label of the manifest says so.
 * Asks the member only where the two numbers differ, and no label tells.
 *
 * Of an autoscaler 0 is never kept, on either side: an object of 0 replicas is what it leaves alone, so the hub turns it off and on
 * (https://kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale/#implicit-maintenance-mode-deactivation).
 * By the label 0 is a number like others: there are scalers that go down to it and come back by themselves.
 */
export async function keepScale(
  cluster: Pick<Cluster, 'client'>,
  manifest: KubeObject,
  live: KubeObject | undefined,
  signal?: AbortSignal,
): Promise<KubeObject> {
  const wanted = replicasOf(manifest);
  const replicas = replicasOf(live);
  if (wanted === undefined || replicas === undefined || wanted === replicas) return manifest;
  const isKept =
    isRetained(manifest) || (wanted > 0 && replicas > 0 && (await isAutoscaled(cluster, manifest, signal)));
  return isKept ? { ...manifest, spec: { ...(manifest['spec'] as object), replicas } } : manifest;
}

function isRetained({ metadata }: KubeObject): boolean {
  return RETAIN_LABELS.some((label) => metadata?.labels?.[label] === 'true');
}

function replicasOf(object: KubeObject | undefined): number | undefined {
  const spec = object?.['spec'];
  return isJsonObject(spec) && typeof spec['replicas'] === 'number' ? spec['replicas'] : undefined;
}

/** By v1, which every release since 1.2 serves, whatever version an autoscaler was written in. */
async function isAutoscaled(
  { client }: Pick<Cluster, 'client'>,
  object: KubeObject,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { namespace, name } = object.metadata ?? {};
  if (!namespace) return false;
  const autoscalers = client.resource(HORIZONTAL_POD_AUTOSCALERS_V1);
  const { items } = await autoscalers.list({ namespace, signal }).catch((error: unknown) => {
    if (isNotFound(error)) return { items: [] };
    throw error;
  });
  return items.some(({ spec }) => {
    const target = spec?.scaleTargetRef;
    return target?.name === name && kindKey(target) === kindKey(object);
  });
}

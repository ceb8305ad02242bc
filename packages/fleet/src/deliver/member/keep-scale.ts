import { HORIZONTAL_POD_AUTOSCALERS_V1, isJsonObject, isNotFound, type KubeObject } from '@asterism/machinery';
import type { Cluster } from '@asterism/runtime';
import { kindKey } from '../interpret/kind-key.ts';

/**
 * The manifest with the replicas that an autoscaler of the member has given to the object, so that applying it scales nothing back;
 * the manifest itself where there is no such autoscaler. Asks the member only where the two numbers differ.
 *
 * 0 is never kept, on either side: an object of 0 replicas is what an autoscaler leaves alone, so the hub turns it off and on
 * (https://kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale/#implicit-maintenance-mode-deactivation).
 */
export async function keepScale(
  cluster: Pick<Cluster, 'client'>,
  manifest: KubeObject,
  live: KubeObject | undefined,
  signal?: AbortSignal,
): Promise<KubeObject> {
  const wanted = replicasOf(manifest);
  const replicas = replicasOf(live);
  if (!wanted || !replicas || wanted === replicas) return manifest;
  if (!(await isAutoscaled(cluster, manifest, signal))) return manifest;
  return { ...manifest, spec: { ...(manifest['spec'] as object), replicas } };
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

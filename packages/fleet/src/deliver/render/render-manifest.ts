import type { KubeObject } from '@asterism/machinery';
import type { Cluster } from '../../api/index.ts';
import type { Binding } from '../../template/binding-client.ts';
import { strategyOf } from '../../place/divide-replicas.ts';
import {
  type AnyOverridePolicy,
  applyOverrides,
  type Overridden,
  type OverrideSettings,
} from '../override/apply-overrides.ts';
import { withoutAllocatedPorts } from './node-ports.ts';
import { pruneTemplate } from './prune-template.ts';
import { reviseReplicas } from './revise-replicas.ts';

/** What a template becomes in one cluster, or, where an override failed, cannot become. */
export interface Rendered extends Overridden {
  /** Of the template's Namespace: what a Namespace that is created for it there must have. */
  namespaceLabels?: Record<string, string> | undefined;
}

/** Renders a template for its clusters: it is pruned once, then each cluster gets its share and its overrides. */
export function createRenderer(
  template: KubeObject,
  { spec }: Binding,
  policies: readonly AnyOverridePolicy[],
  { placedForCluster = isPlacedForCluster(spec), ...others }: OverrideSettings = {},
): (cluster: Cluster) => Promise<Rendered> {
  const pruned = pruneTemplate(withoutAllocatedPorts(template));
  const { clusters = [], placement } = spec;
  const settings = { ...others, placedForCluster };
  const divided = strategyOf(placement?.replicaScheduling).type !== 'Duplicated';
  return async (cluster) => {
    const share = { cluster: cluster.metadata.name ?? '', clusters, divided, uid: template.metadata?.uid };
    const overridden = await applyOverrides(reviseReplicas(pruned, share), cluster, policies, settings);
    return { ...overridden, object: withoutEmptyMetadata(overridden.object) };
  };
}

/** Whether a policy of the cluster has placed the template by itself, and leaves it to no namespace to change it. */
export function isPlacedForCluster({ policy, allowNamespaceOverrides }: Binding['spec']): boolean {
  return policy?.kind === 'ClusterPropagationPolicy' && allowNamespaceOverrides !== true;
}

/**
 * A kube-apiserver keeps of an embedded object's metadata what is not empty. A Work that said more would never say what it
 * should.
 */
function withoutEmptyMetadata(object: KubeObject): KubeObject {
  const kept = Object.entries(object.metadata ?? {}).filter(([, value]) => !isEmpty(value));
  return { ...object, metadata: Object.fromEntries(kept) };
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
}

import type { Client } from '@asterism/client';
import { ifFound, isStatusError, type KubeObject, type ResourceType } from '@asterism/machinery';
import {
  CLUSTER_PROPAGATION_POLICIES,
  type ClusterPropagationPolicy,
  CLUSTERS,
  type Decision,
  PROPAGATION_POLICIES,
  type PropagationPolicy,
} from '../../api/index.ts';
import type { Binding } from '../../template/binding-client.ts';
import { filterOf } from '../keep-decisions.ts';
import type { Policies, Policy } from '../match-policy.ts';
import { type Grounds, limitsOf } from '../rights/grounds.ts';
import { byName } from '../../template/tie-break.ts';
import { workloadOf } from '../../template/workload.ts';
import { readRights } from './read-rights.ts';

/**
 * The decisions about clusters that a binding does not name, for a caller who may read the clusters; rejects as Forbidden for others. If
 * the caller may not ask for the rights of the policy's author, the decisions do not say who lacks the right.
 */
export async function revealHidden(
  hub: Client,
  template: KubeObject,
  binding: Binding,
  signal?: AbortSignal,
): Promise<Decision[]> {
  const { spec } = binding;
  if (!spec.hiddenClusters) return [];
  const { items: clusters } = await hub.resource(CLUSTERS).list({ signal });
  const shown = new Set(spec.decisions?.map(({ cluster }) => cluster));
  const grounds = await groundsOf(hub, { template, binding, clusters }, signal);
  const namespace = limitsOf(template, undefined).namespace;
  const lacking = new Map(clusters.map(({ metadata: { name = '' } }) => [name, NO_RIGHT]));
  const { apiVersion, kind } = spec.resource;
  const filter = filterOf(spec, {
    template: { apiVersion, kind },
    limits: { namespace, refusals: grounds && grounds.refusals.size > 0 ? grounds.refusals : lacking },
    placement: spec.placement ?? {},
    workload: workloadOf(template),
    clusters,
    previous: [],
  });
  const decide = (cluster: (typeof clusters)[number]): Decision => {
    const name = cluster.metadata.name ?? '';
    const verdict = spec.policy ? filter(cluster) : NOT_REQUIRED;
    const { reason, message } = typeof verdict === 'number' ? { reason: 'NotPermitted', message: NO_RIGHT } : verdict;
    return { cluster: name, selected: false, reason, message };
  };
  return clusters
    .filter(({ metadata }) => !shown.has(metadata.name ?? ''))
    .map(decide)
    .toSorted((a, b) => byName(a.cluster, b.cluster));
}

const NO_RIGHT = 'no right to place there when the hub decided';
const NOT_REQUIRED = { reason: 'NotRequired', message: 'nothing that needs it is placed there' };

interface Decided {
  template: KubeObject;
  binding: Binding;
  clusters: Parameters<typeof readRights>[1]['clusters'];
}

async function groundsOf(
  hub: Client,
  { template, binding, clusters }: Decided,
  signal: AbortSignal | undefined,
): Promise<Grounds | undefined> {
  const policy = binding.spec.policy && (await policyOf(hub, binding.spec.policy, signal));
  if (!policy) return undefined;
  const policies: Policies =
    policy.kind === 'PropagationPolicy' ? { namespaced: [policy], cluster: [] } : { namespaced: [], cluster: [policy] };
  const fleet = { templates: [template], bindings: [binding], policies, overrides: new Set<string>(), clusters };
  const rights = await readRights(hub, fleet, signal);
  return 'unknown' in rights ? undefined : rights.groundsOf(policy, template);
}

async function policyOf(
  hub: Client,
  { namespace, name }: { namespace?: string; name: string },
  signal: AbortSignal | undefined,
): Promise<PropagationPolicy | ClusterPropagationPolicy | undefined> {
  const type = (namespace ? PROPAGATION_POLICIES : CLUSTER_PROPAGATION_POLICIES) as ResourceType<Policy>;
  try {
    return await ifFound(hub.resource(type).get({ namespace, name }, { signal }));
  } catch (error) {
    if (isStatusError(error, 'Forbidden')) return undefined;
    throw error;
  }
}

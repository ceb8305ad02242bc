import { API_VERSION, type ClusterPropagationPolicy } from '../../api/index.ts';

/** A policy of the cluster, named `all`, that selects every object of the kinds, such as `apps/v1/Deployment`. */
export function policyForAll(
  kinds: readonly string[],
  more: Omit<ClusterPropagationPolicy['spec'], 'resourceSelectors'> = {},
): ClusterPropagationPolicy {
  const resourceSelectors = kinds.map((each) => {
    const behindVersion = each.lastIndexOf('/');
    return { apiVersion: each.slice(0, behindVersion), kind: each.slice(behindVersion + 1) };
  });
  return {
    apiVersion: API_VERSION,
    kind: 'ClusterPropagationPolicy',
    metadata: { name: 'all' },
    spec: { resourceSelectors, ...more },
  };
}

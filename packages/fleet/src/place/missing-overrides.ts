import type { Policy } from './match-policy.ts';

/**
 * The override policies that a policy depends on and that are not there: of a PropagationPolicy OverridePolicies of its namespace, of a
 * ClusterPropagationPolicy ClusterOverridePolicies.
 *
 * @param isThere tells it by namespace and name, as `objectKey` has it
 * @returns their keys, in the order of the policy
 */
export function missingOverrides(policy: Policy, isThere: (key: string) => boolean): string[] {
  const { namespace } = policy.metadata;
  const { dependentOverrides = [] } = policy.spec;
  return dependentOverrides.map((name) => (namespace ? `${namespace}/${name}` : name)).filter((key) => !isThere(key));
}

/** Why nothing is decided while they are missing. */
export function overridesAwaited({ kind }: Policy, missing: readonly string[]): string {
  const awaited = kind === 'PropagationPolicy' ? 'OverridePolicy' : 'ClusterOverridePolicy';
  return `the policy depends on ${awaited} ${missing.join(', ')}: nothing is decided until that is there`;
}

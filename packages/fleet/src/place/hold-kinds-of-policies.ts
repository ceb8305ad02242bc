import type { InformerHandler } from '@asterism/runtime';
import type { ClusterPropagationPolicy, PropagationPolicy } from '../api/index.ts';
import type { KindInformers } from '../template/kind-informers.ts';
import { DEPENDENCIES } from '../template/templates.ts';
import type { Policy } from './match-policy.ts';

/** Holds the kinds that a policy selects, and those of what it takes along. */
export function holdKindsOfPolicies(
  kinds: KindInformers,
): InformerHandler<PropagationPolicy> & InformerHandler<ClusterPropagationPolicy> {
  const hold = (policy: Policy): void => {
    const { resourceSelectors, propagateDeps } = policy.spec;
    kinds.hold(holderOf(policy), [...resourceSelectors, ...(propagateDeps ? DEPENDENCIES : [])]);
  };
  return {
    onAdd: (policy: Policy) => hold(policy),
    onUpdate: (_: Policy, policy: Policy) => hold(policy),
    onDelete: (policy: Policy) => kinds.hold(holderOf(policy), []),
  };
}

function holderOf({ kind, metadata }: Policy): string {
  return `${kind}/${metadata.namespace ?? ''}/${metadata.name}`;
}

import type { InformerHandler } from '@asterism/runtime';
import type { KindInformers } from '../template/kind-informers.ts';
import { DEPENDENCIES } from '../template/templates.ts';
import type { Policy } from './match-policy.ts';

/** Holds the kinds that a policy selects, and those of what it takes along. */
export function holdKindsOfPolicies(kinds: KindInformers): InformerHandler<Policy> {
  const hold = (policy: Policy): void => {
    const { resourceSelectors, propagateDeps } = policy.spec;
    kinds.hold(holderOf(policy), [...resourceSelectors, ...(propagateDeps ? DEPENDENCIES : [])]);
  };
  return {
    onAdd: (policy) => hold(policy),
    onUpdate: (_, policy) => hold(policy),
    onDelete: (policy) => kinds.hold(holderOf(policy), []),
  };
}

function holderOf({ kind, metadata }: Policy): string {
  return `${kind}/${metadata.namespace ?? ''}/${metadata.name}`;
}

import type { KubeObject } from '@asterism/machinery';
import type { InformerHandler } from '@asterism/runtime';
import type { ClusterPropagationPolicy, PropagationPolicy } from '../api/index.ts';
import type { Binding } from '../template/binding-client.ts';
import { DEPENDENCY_KINDS } from '../template/dependencies.ts';
import type { Kind, KindInformers } from '../template/kind-informers.ts';
import type { Policy } from './match-policy.ts';

const DEPENDENCIES: readonly Kind[] = DEPENDENCY_KINDS.map((kind) => ({ apiVersion: 'v1', kind }));

/** Holds the kind of what is placed, and the kinds of what goes along with it: its policy may say otherwise by now, or be gone. */
export function holdKindsOfBindings(templates: KindInformers): InformerHandler {
  const hold = (object: KubeObject): void => {
    const binding = object as Binding;
    const { resource, propagateDeps } = binding.spec;
    templates.hold(holderOf(binding), [resource, ...(propagateDeps ? DEPENDENCIES : [])]);
  };
  return {
    onAdd: hold,
    onUpdate: (_, binding) => hold(binding),
    onDelete: (binding) => templates.hold(holderOf(binding as Binding), []),
  };
}

/** Holds the kinds that a policy selects. */
export function holdKindsOfPolicies(
  templates: KindInformers,
): InformerHandler<PropagationPolicy> & InformerHandler<ClusterPropagationPolicy> {
  const hold = (policy: Policy): void => {
    const { resourceSelectors, propagateDeps } = policy.spec;
    templates.hold(holderOf(policy), [...resourceSelectors, ...(propagateDeps ? DEPENDENCIES : [])]);
  };
  return {
    onAdd: (policy: Policy) => hold(policy),
    onUpdate: (_: Policy, policy: Policy) => hold(policy),
    onDelete: (policy: Policy) => templates.hold(holderOf(policy), []),
  };
}

function holderOf({ kind, metadata }: Policy | Binding): string {
  return `${kind}/${metadata.namespace ?? ''}/${metadata.name}`;
}

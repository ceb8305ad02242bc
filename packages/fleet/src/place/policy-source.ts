import type { ControllerBuilder, InformerHandler, Request } from '@asterism/runtime';
import type { ClusterPropagationPolicy, ObjectReference, PropagationPolicy } from '../api/index.ts';
import type { Policy } from './match-policy.ts';

/**
 * Where policies come from. The hub's own policies are one source. Policies of another system, read where they are, can be another: it
 * shows each of them as a policy of our kinds, and copies nothing into the hub.
 */
export interface PolicySource {
  ofNamespace(namespace: string): readonly PropagationPolicy[];
  clusterWide(): readonly ClusterPropagationPolicy[];
  get(policy: ObjectReference): Policy | undefined;
  /** Calls the handler for every policy, now and later. */
  addHandler(handler: InformerHandler<Policy>): void;
  /**
   * Has the controller reconcile what `affected` returns whenever a policy is added, changes what it says or who answers for it, or is
   * deleted; and has it wait until all policies are read.
   */
  watch(controller: ControllerBuilder, affected: (policy: Policy) => Request[]): void;
}

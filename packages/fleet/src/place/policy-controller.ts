import { wallNow } from '@asterism/client';
import { type Condition, deepEqual, formatTime, type ResourceType, setCondition } from '@asterism/machinery';
import { type Controller, createController, generationChanged, LOCAL_CLUSTER, type Request } from '@asterism/runtime';
import { CLUSTER_PROPAGATION_POLICIES, PROPAGATION_POLICIES } from '../api/index.ts';
import type { Policy } from './match-policy.ts';
import { formatFault, selectorFaults } from './selector-faults.ts';

/** Of a condition. */
const MAX_MESSAGE = 32_768;

/**
 * Says in the status of a policy which of its selectors can select nothing: those that stand already, and those that came by an API
 * server which lets them pass. Of a policy that was never wrong nothing is written.
 */
export function createPolicyController(options: { now?: () => number } = {}): Controller {
  const { now = wallNow } = options;
  const predicates = [generationChanged];
  return createController({
    name: 'policies',
    async reconcile({ namespace, name }, { cluster: { client, cache }, signal, logger }) {
      const type = (namespace ? PROPAGATION_POLICIES : CLUSTER_PROPAGATION_POLICIES) as ResourceType<Policy>;
      const policy = cache.get(type, { namespace, name });
      if (!policy) return;
      const faults = selectorFaults(policy).map(formatFault);
      if (faults.length === 0 && !policy.status) return;
      const observedGeneration = policy.metadata.generation ?? 1;
      const conditions = setCondition(
        policy.status?.conditions,
        { type: 'Valid', ...verdictOn(faults), observedGeneration },
        formatTime(now()),
      );
      const status = { ...policy.status, observedGeneration, conditions };
      if (deepEqual(status, policy.status)) return;
      for (const fault of faults) logger.warn({ policy: name }, `a selector of this policy selects nothing: ${fault}`);
      const body = { metadata: { uid: policy.metadata.uid }, status };
      await client
        .resource(type)
        .patch({ namespace, name }, { type: 'merge', body }, { subresource: 'status', signal });
    },
  })
    .watches(PROPAGATION_POLICIES, requestOf, { predicates })
    .watches(CLUSTER_PROPAGATION_POLICIES, requestOf, { predicates });
}

function requestOf({ metadata }: Pick<Policy, 'metadata'>): Request[] {
  return [{ cluster: LOCAL_CLUSTER, namespace: metadata.namespace, name: metadata.name ?? '' }];
}

function verdictOn(faults: readonly string[]): Pick<Condition, 'status' | 'reason' | 'message'> {
  if (faults.length === 0) return { status: 'True', reason: 'SelectorsRead', message: 'all selectors can be read' };
  return { status: 'False', reason: 'FaultySelectors', message: faults.join('; ').slice(0, MAX_MESSAGE) };
}

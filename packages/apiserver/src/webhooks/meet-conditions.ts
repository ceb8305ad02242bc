import type { KubeObject } from '@asterism/machinery';
import type { Authorizer } from '../contract/authorizer.ts';
import type { AdmissionAttributes } from '../registry/admission-attributes.ts';
import { describeRequest } from './admission-review.ts';
import { conditionsFailed, type Invocation } from './match-webhook.ts';

/**
 * Whether all match conditions of a webhook hold for a request. A false one decides, whatever is wrong with the others; of what
 * cannot be evaluated the failure policy decides: Ignore leaves the webhook out, with Fail it rejects with 403.
 */
export async function meetsConditions(
  invocation: Invocation,
  request: AdmissionAttributes,
  {
    objects,
    authorizer,
    onFault,
  }: {
    objects: { object: KubeObject | undefined; oldObject: KubeObject | undefined };
    authorizer: Authorizer | undefined;
    onFault: () => void;
  },
): Promise<boolean> {
  const { webhook } = invocation;
  // Loaded with the first condition: most configurations have none.
  const { CompiledConditions } = await import('../cel/match-conditions.ts');
  webhook.compiled ??= new CompiledConditions(webhook.matchConditions);
  const { object, oldObject } = objects;
  const { dryRun, options, user } = request;
  const asked = { ...describeRequest(invocation, request), dryRun, ...(options ? { options } : {}) };
  const outcome = await webhook.compiled.evaluate({ object, oldObject, request: asked, authorizer, user });
  for (let count = outcome.faults.length; count > 0; count--) onFault();
  if (outcome.isFalse) return false;
  if (outcome.faults.length === 0) return true;
  if (webhook.ignoresFailure) return false;
  const [first = ''] = outcome.faults;
  const why = outcome.faults.length === 1 ? first : `[${[...new Set(outcome.faults)].join(', ')}]`;
  throw conditionsFailed(request, why);
}

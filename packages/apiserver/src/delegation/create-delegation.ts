import type { Client, Clock } from '@asterism/client';
import type { ServerLogger } from '../contract/server-logger.ts';
import type { Delegation } from '../contract/delegation.ts';

export interface DelegationOptions {
  /**
   * To the host, as an identity with the ClusterRole `system:auth-delegator` and, in `kube-system`, the Role
   * `extension-apiserver-authentication-reader`. Not closed with the delegation.
   */
  client: Client;
  logger?: ServerLogger;
  clock?: Clock;
}

/**
 * Asks the host of `client` who callers are and what they may do, as servers behind a kube-apiserver's aggregator do: by its
 * front proxy's word, the client certificates of its authority, TokenReview and SubjectAccessReview.
 *
 * Resolves when the ConfigMap `kube-system/extension-apiserver-authentication` was read, and follows it from then on; what it
 * said last holds while it cannot be read. Rejects where it cannot be read now, or makes no sense.
 */
export async function createDelegation(options: DelegationOptions): Promise<Delegation> {
  // Most servers have none: what it takes to ask another server is loaded with the first.
  const { startHostDelegation } = await import('./host-delegation.ts');
  return await startHostDelegation(options);
}

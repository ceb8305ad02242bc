import { type Client, type Clock, keepRenewed, type Validity } from '@asterism/client';
import { type KubeObject, SECRETS, SERVICE_ACCOUNTS } from '@asterism/machinery';
import type { Logger } from '@asterism/runtime';
import { CREDENTIAL_SECRET, clusterNamespace, HUB_SERVICE_ACCOUNT, SYSTEM_NAMESPACE } from '../../api/index.ts';

export interface ShareCredentialOptions {
  clusterName: string;
  member: Client;
  hub: Client;
  logger: Logger;
  clock: Clock;
  /** Of a token, in seconds; the member may give less or more. Default one hour. */
  lifeSeconds?: number;
  /** Told once: the hub has a token. */
  onFirst?: () => void;
}

/** After a failure, ms. */
const RETRY_MS = 5_000;

/**
 * Push: gives the hub what it needs to come in. A token of the member's service account for the hub, put into the cluster's
 * Secret in the hub, and replaced when two thirds of its life are over. Resolves when the signal aborts.
 */
export async function shareCredential(options: ShareCredentialOptions, signal: AbortSignal): Promise<void> {
  const { clusterName, member, hub, logger, clock, lifeSeconds = 3600, onFirst } = options;
  let isFirst = true;
  const renew = async (): Promise<Validity> => {
    const { token, lifeMs } = await requestToken(member, lifeSeconds, { clock, signal });
    const data = { token: Buffer.from(token).toString('base64'), 'tls.crt': null, 'tls.key': null };
    const ref = { namespace: clusterNamespace(clusterName), name: CREDENTIAL_SECRET };
    await hub.resource(SECRETS).patch(ref, { type: 'merge', body: { data } }, { signal });
    const from = clock.wall().getTime();
    logger.debug({ expires: new Date(from + lifeMs).toISOString() }, 'gave the hub a token');
    if (isFirst) onFirst?.();
    isFirst = false;
    return { from, until: from + lifeMs };
  };
  const failed = (error: unknown): number => {
    logger.warn({ err: error, retryInMs: RETRY_MS }, 'the hub could not be given a token');
    return RETRY_MS;
  };
  await keepRenewed({ clock, renew, failed }, signal);
}

/** A new token of the hub's account in the member, and for how long it is valid. The life does not depend on whose clock is right. */
export async function requestToken(
  member: Client,
  expirationSeconds: number,
  { clock, signal }: { clock: Clock; signal?: AbortSignal | undefined },
): Promise<{ token: string; lifeMs: number }> {
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds } };
  const answer: KubeObject = await member
    .resource(SERVICE_ACCOUNTS)
    .create(request, { subresource: 'token', name: HUB_SERVICE_ACCOUNT, namespace: SYSTEM_NAMESPACE, signal });
  const { token, expirationTimestamp } = (answer['status'] ?? {}) as { token?: string; expirationTimestamp?: string };
  if (!token || !expirationTimestamp) throw new Error(`the member gave no token for ${HUB_SERVICE_ACCOUNT}`);
  const granted = (answer['spec'] as { expirationSeconds?: number } | undefined)?.expirationSeconds;
  const lifeMs = granted === undefined ? Date.parse(expirationTimestamp) - clock.wall().getTime() : granted * 1000;
  return { token, lifeMs };
}

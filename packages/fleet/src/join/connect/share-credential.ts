import { type Client, type Clock, sleep } from '@asterism/client';
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
  for (let first = true; !signal.aborted; ) {
    let waitMs = RETRY_MS;
    try {
      const { token, expires } = await requestToken(member, lifeSeconds, signal);
      await hub.resource(SECRETS).patch(
        { namespace: clusterNamespace(clusterName), name: CREDENTIAL_SECRET },
        {
          type: 'merge',
          body: { data: { token: Buffer.from(token).toString('base64'), 'tls.crt': null, 'tls.key': null } },
        },
        { signal },
      );
      logger.debug({ expires: new Date(expires).toISOString() }, 'gave the hub a token');
      waitMs = Math.max((expires - clock.wall().getTime()) * (2 / 3), RETRY_MS);
      if (first) onFirst?.();
      first = false;
    } catch (error) {
      if (signal.aborted) return;
      logger.warn({ err: error, retryInMs: waitMs }, 'the hub could not be given a token');
    }
    await sleep(clock, waitMs, signal).catch(() => {});
  }
}

/** A new token of the hub's account in the member, and until when it is good, ms since 1970. */
export async function requestToken(
  member: Client,
  expirationSeconds: number,
  signal?: AbortSignal,
): Promise<{ token: string; expires: number }> {
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds } };
  const answer: KubeObject = await member
    .resource(SERVICE_ACCOUNTS)
    .create(request, { subresource: 'token', name: HUB_SERVICE_ACCOUNT, namespace: SYSTEM_NAMESPACE, signal });
  const { token, expirationTimestamp } = (answer['status'] ?? {}) as { token?: string; expirationTimestamp?: string };
  if (!token || !expirationTimestamp) throw new Error(`the member gave no token for ${HUB_SERVICE_ACCOUNT}`);
  return { token, expires: Date.parse(expirationTimestamp) };
}

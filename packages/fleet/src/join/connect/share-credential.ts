import { type Client, type Clock, keepRenewed, Refusals, sleep, type Validity } from '@asterism/client';
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
  /** Whether the member answers 401 to this token. It may reject. */
  isRefused?: (token: string, signal: AbortSignal) => Promise<boolean>;
}

/** How often a member is asked whether it accepts the token that the hub has, ms. */
const CHECK_MS = 60_000;

/** After a failure, ms. */
const RETRY_MS = 5_000;

/**
 * Push: gives the hub what it needs to come in. A token of the member's service account for the hub, put into the cluster's
 * Secret in the hub, and replaced when two thirds of its life are over, or when the member refuses it before that. Resolves when the
 * signal aborts.
 */
export async function shareCredential(options: ShareCredentialOptions, signal: AbortSignal): Promise<void> {
  const { clusterName, member, hub, logger, clock, lifeSeconds = 3600, onFirst } = options;
  const refusals = new Refusals();
  let isFirst = true;
  let shared: string | undefined;
  const renew = async (): Promise<Validity> => {
    const { token, lifeMs } = await requestToken(member, lifeSeconds, { clock, signal });
    const data = { token: Buffer.from(token).toString('base64'), 'tls.crt': null, 'tls.key': null };
    const ref = { namespace: clusterNamespace(clusterName), name: CREDENTIAL_SECRET };
    await hub.resource(SECRETS).patch(ref, { type: 'merge', body: { data } }, { signal });
    shared = token;
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
  const check = async (): Promise<void> => {
    while (options.isRefused && !signal.aborted) {
      await sleep(clock, CHECK_MS, signal).catch(() => {});
      if (signal.aborted || shared === undefined) continue;
      const asked = shared;
      const isRefused = await options.isRefused(asked, signal).catch(() => false); // A member that is away refuses nothing.
      if (isRefused && asked === shared) refusals.report();
    }
  };
  await Promise.all([keepRenewed({ clock, renew, failed, refusals }, signal), check()]);
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

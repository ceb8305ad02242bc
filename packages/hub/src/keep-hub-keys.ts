import { X509Certificate } from 'node:crypto';
import type { ServerPki } from '@asterism/apiserver';
import { type Clock, keepRenewed, type Validity } from '@asterism/client';
import { backoff, type Logger } from '@asterism/runtime';
import { type HubKeysOptions, openHubKeys } from './hub-keys.ts';

export interface KeepHubKeysOptions {
  /** The keys of the start. */
  keys: ServerPki;
  folder: Pick<HubKeysOptions, 'dir' | 'hosts' | 'lifeMs'>;
  /** Puts renewed keys into use. A failure is retried with further keys. */
  use(keys: ServerPki): void;
  clock: Clock;
  logger: Logger;
}

/**
 * Renews the hub's own certificates, which its authority signs, while the hub runs. Without that, a hub that runs for longer than they are
 * valid serves a certificate that has expired. Nothing is written once the result is disposed of.
 */
export function keepHubKeys(options: KeepHubKeysOptions): AsyncDisposable {
  const { folder, use, clock, logger } = options;
  const waits = backoff({ initialMs: 5_000, factor: 2, capMs: 10 * 60_000, jitter: 0.2, random: Math.random });
  let validity = validityOf(options.keys, folder.lifeMs);
  const renew = async (): Promise<Validity> => {
    const keys = await openHubKeys({ ...folder, now: clock.wall().getTime(), reissue: true });
    use(keys);
    waits.reset();
    validity = validityOf(keys, folder.lifeMs);
    logger.info({ until: dateOf(validity) }, "the hub's own certificates were renewed");
    return validity;
  };
  const failed = (error: unknown): number => {
    const retryInMs = waits.next();
    const facts = { err: error, retryInMs, until: dateOf(validity) };
    logger.warn(facts, "the hub's own certificates could not be renewed");
    return retryInMs;
  };
  const ending = new AbortController();
  const ended = keepRenewed({ clock, validity, renew, failed }, ending.signal);
  return {
    async [Symbol.asyncDispose]() {
      ending.abort();
      await ended;
    },
  };
}

/** Certificates are dated back by minutes. Only the time that they were issued for counts. */
function validityOf({ serving, admin }: ServerPki, lifeMs: number): Validity {
  const certificates = [serving, admin].map(({ cert }) => new X509Certificate(cert));
  const until = Math.min(...certificates.map(({ validToDate }) => validToDate.getTime()));
  const from = Math.min(...certificates.map(({ validFromDate }) => validFromDate.getTime()));
  return { from: Math.max(from, until - lifeMs), until };
}

const dateOf = ({ until }: Validity): string => new Date(until).toISOString();

import { type Clock, sleep } from '@asterism/client';
import { JoinError, mayPass } from '@asterism/fleet/join';
import { StatusError } from '@asterism/machinery';
import { backoff, type Logger } from '@asterism/runtime';

export interface Patience {
  signal: AbortSignal;
  logger: Logger;
  clock: Clock;
  random: () => number;
  retryMs: number;
  retryCapMs: number;
  /** From the first failure on. */
  patienceMs: number;
}

/**
 * Tries until it works, for as long as waiting may help: nobody answers, or a server that is there is not able to. Everything
 * else rejects at once; so does the last failure when patience is over.
 */
export async function patiently<T>(attempt: () => Promise<T>, patience: Patience): Promise<T> {
  const { signal, logger, clock, random, retryMs, retryCapMs, patienceMs } = patience;
  const waits = backoff({ initialMs: retryMs, factor: 2, capMs: retryCapMs, jitter: 0.5, random });
  let failingSince: number | undefined;
  let said = '';
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      if (!isPassing(error)) throw error;
      failingSince ??= clock.monotonic();
      const waitMs = waits.next();
      if (clock.monotonic() + waitMs - failingSince > patienceMs) throw error;
      if (error.message !== said) logger.warn({ reason: error.message }, 'waiting to join');
      said = error.message;
      await sleep(clock, waitMs, signal);
    }
  }
}

function isPassing(error: unknown): error is Error {
  if (error instanceof JoinError) return mayPass(error);
  return error instanceof StatusError && (error.code >= 500 || error.code === 429 || error.code === 409);
}

import { type Client, type Clock, sleep } from '@asterism/client';
import { backoff } from '../waiting/backoff.ts';
import { LinkedAbort } from '../waiting/linked-abort.ts';

/**
 * Whom to ask, and by which time.
 *
 * @example {@link Knocker}
 */
export interface KnockerOptions {
  /** The client of now. */
  client: () => Client;
  clock: Clock;
  random: () => number;
}

/** Asked of any API server, also by who may do nothing there. */
const READY_PATH = '/readyz';
const BETWEEN = { initialMs: 500, factor: 1.5, capMs: 5_000, jitter: 0.5 };
/** How long an answer may take. */
const PATIENCE_MS = 5_000;

/**
 * Finds out when a server that gives no answer gives one again, for all who wait for that, so that none of them sleeps on for
 * as long as its own failures have made it wait, and none has to ask more often either.
 *
 * K1 However many wait, one asks: at once, then after 0.5 s, and ever more seldom down to every 5 s; nobody asks when nobody waits.
 * K2 It says "again" only of a server that was silent: one that has answered all along, and fails for some alone, is left to
 *    the delays of those.
 *
 * @example
 * ```ts
 * const knocker = new Knocker({ client: () => cluster.client, clock: systemClock, random: Math.random });
 * if (await knocker.answersAgain(signal)) logger.info({}, 'the server is back');
 * ```
 */
export class Knocker {
  readonly #options: KnockerOptions;
  readonly #waiting = new Set<(again: boolean) => void>();
  readonly #listeners = new Set<() => void>();
  #knocking: AbortController | undefined;

  constructor(options: KnockerOptions) {
    this.#options = options;
  }

  /** Resolves with true when the server answers again, with false when it is not silent. Rejects when the signal aborts. */
  async answersAgain(signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    this.#waiting.add(resolve);
    if (!this.#knocking) void this.#knock((this.#knocking = new AbortController()));
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#waiting.delete(resolve);
      if (this.#waiting.size === 0) this.#rest();
    }
  }

  /** Calls back when the server answers again, if anybody has waited for it. Returns what ends that. */
  onReturn(callback: () => void): () => void {
    this.#listeners.add(callback);
    return () => this.#listeners.delete(callback);
  }

  /** Somebody who had waited has tried for himself, and was the first to have an answer. */
  returned(): void {
    for (const listener of this.#listeners) listener();
  }

  #rest(): void {
    this.#knocking?.abort();
    this.#knocking = undefined;
  }

  async #knock({ signal }: AbortController): Promise<void> {
    const { clock, random } = this.#options;
    const delays = backoff({ ...BETWEEN, random });
    let silent = false;
    while (!signal.aborted) {
      if (await this.#answers(signal)) return signal.aborted ? undefined : this.#tell(silent);
      silent = true;
      await sleep(clock, delays.next(), signal).catch(() => {});
    }
  }

  /** Whether the server says anything but that it is not able to. */
  async #answers(signal: AbortSignal): Promise<boolean> {
    const { client, clock } = this.#options;
    using attempt = new LinkedAbort(signal);
    const tooLong = (): void => attempt.abort(new Error(`no answer within ${PATIENCE_MS} ms`));
    const cancel = clock.setTimer(tooLong, PATIENCE_MS, { background: true });
    try {
      const { status, body } = await client().request({ method: 'GET', path: READY_PATH, signal: attempt.signal });
      body.destroy();
      return status < 500 && status !== 429;
    } catch {
      return false;
    } finally {
      cancel();
    }
  }

  #tell(again: boolean): void {
    this.#rest();
    for (const resolve of this.#waiting) resolve(again);
    if (again) this.returned();
  }
}

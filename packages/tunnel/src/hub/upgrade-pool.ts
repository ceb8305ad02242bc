import type { Clock } from '@asterism/client';
import type { EndReason } from '../counters.ts';
import { TunnelError } from '../tunnel-error.ts';
import type { UpgradeConnection } from './upgrade-connection.ts';

export interface UpgradePoolOptions {
  name: string;
  /** Byte pipes at one time. */
  maxOpen: number;
  waitMs: number;
  /** Spare ones that wait for so long are ended: the agent could not do so without the risk that one is being taken. */
  spareIdleMs: number;
  clock: Clock;
  /** Asks the agent for one more, if it can be asked. */
  ask: () => void;
}

interface Waiter {
  resolve(connection: UpgradeConnection): void;
  reject(error: Error): void;
}

/** The upgrade connections of one agent: idle ones that wait to be taken, and those in use. */
export class UpgradePool {
  readonly #options: UpgradePoolOptions;
  /** In the order in which they came. */
  readonly #connections = new Set<UpgradeConnection>();
  readonly #waiters = new Set<Waiter>();

  constructor(options: UpgradePoolOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#connections.size;
  }

  /** Those that stand now. */
  list(): UpgradeConnection[] {
    return [...this.#connections];
  }

  add(connection: UpgradeConnection): void {
    this.#connections.add(connection);
    const [waiter] = this.#waiters;
    if (waiter && connection.reserve()) waiter.resolve(connection);
    if (connection.offer.spare) this.#endWhenUnused(connection);
  }

  delete(connection: UpgradeConnection): void {
    this.#connections.delete(connection);
  }

  /**
   * Reserves an idle connection, the one that came last; waits a little for the agent to dial another.
   *
   * @throws TunnelError `LIMIT`, `TIMEOUT`; the signal's reason.
   */
  async reserve(signal?: AbortSignal): Promise<UpgradeConnection> {
    signal?.throwIfAborted();
    const { name, maxOpen } = this.#options;
    const inUse = this.list().filter((connection) => !connection.idle).length;
    if (inUse >= maxOpen) {
      throw new TunnelError(
        'LIMIT',
        `tunnel to "${name}": ${inUse} upgraded connections are open and that is the limit`,
      );
    }
    const idle = this.list().findLast((connection) => connection.reserve());
    return idle ?? (await this.#wait(signal));
  }

  /** What the agent was asked over may be gone. */
  askAgain(): void {
    for (const _waiter of this.#waiters) this.#options.ask();
  }

  /** Ends those that are idle. */
  endIdle(reason: EndReason): void {
    for (const connection of this.#idle()) connection.end(reason);
  }

  end(reason: EndReason): void {
    for (const connection of this.list()) connection.end(reason);
  }

  /** Whoever waits for a connection gets this error. */
  failWaiters(error: Error): void {
    for (const waiter of this.#waiters) waiter.reject(error);
  }

  #endWhenUnused(connection: UpgradeConnection): void {
    const { clock, spareIdleMs } = this.#options;
    const end = (): void => {
      if (connection.idle) connection.end('drained');
    };
    clock.setTimer(end, spareIdleMs, { background: true });
  }

  #idle(): UpgradeConnection[] {
    return this.list().filter(({ idle }) => idle);
  }

  #wait(signal: AbortSignal | undefined): Promise<UpgradeConnection> {
    const { name, waitMs, clock } = this.#options;
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        this.#waiters.delete(waiter);
        cancelTimer();
        signal?.removeEventListener('abort', onAbort);
      };
      const waiter: Waiter = {
        resolve: (connection) => {
          settle();
          resolve(connection);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      };
      const onAbort = (): void => waiter.reject(signal?.reason as Error);
      const cancelTimer = clock.setTimer(
        () =>
          waiter.reject(
            new TunnelError(
              'TIMEOUT',
              `tunnel to "${name}": the agent offered no upgrade connection within ${waitMs} ms`,
            ),
          ),
        waitMs,
      );
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiters.add(waiter);
      this.#options.ask();
    });
  }
}

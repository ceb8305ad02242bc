import type { Clock } from '@asterism/client';
import { LOCAL_CLUSTER, type Request } from './reconcile.ts';
import type { WorkQueue } from './work-queue.ts';

/** How often it is looked whether the cluster that is worked on gives answers. */
const LOOK_MS = 5_000;

export interface WorkersOptions {
  queue: WorkQueue;
  clock: Clock;
  /** What is done with each request. Must not reject. */
  work: (request: Request) => Promise<void>;
  /** For how long a cluster has left unanswered what it was asked; 0 where it owes no answer. */
  silentMs: (cluster: string) => number;
}

/**
 * So many at work on a queue.
 *
 * Whoever waits for a member cluster that has given no answer for 5 s has somebody else take the place until that is over: clusters
 * that fall silent together, as when a region is gone, hold up no other, though nobody has found out yet that they are gone.
 */
export class Workers {
  readonly #options: WorkersOptions;
  readonly #working = new Set<Promise<void>>();

  constructor(options: WorkersOptions) {
    this.#options = options;
  }

  start(count: number): void {
    for (let worker = 0; worker < count; worker++) this.#begin();
  }

  /** Resolves when all have ended, which they do when the queue was shut down. */
  async ended(): Promise<void> {
    while (this.#working.size > 0) await Promise.all(this.#working);
  }

  #begin(): void {
    const working = this.#work().finally(() => this.#working.delete(working));
    this.#working.add(working);
  }

  async #work(): Promise<void> {
    const { queue, work } = this.#options;
    for (let request = await queue.take(); request; request = await queue.take()) {
      const relief = this.#relieve(request.cluster);
      await work(request);
      relief.cancel();
      queue.done(request);
      if (relief.came) return;
    }
  }

  /** Has somebody come when the cluster is silent. Of the local cluster everybody would have to wait anyhow. */
  #relieve(cluster: string): { readonly came: boolean; cancel(): void } {
    const { clock, silentMs } = this.#options;
    const relief = { came: false, cancel: (): void => {} };
    const look = (): void => {
      relief.came = silentMs(cluster) >= LOOK_MS;
      if (relief.came) this.#begin();
      else wait();
    };
    const wait = (): void => {
      relief.cancel = clock.setTimer(look, LOOK_MS, { background: true });
    };
    if (cluster !== LOCAL_CLUSTER) wait();
    return relief;
  }
}

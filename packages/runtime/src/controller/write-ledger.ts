import type { Clock } from '@asterism/client';
import type { EngagedCluster } from '../cluster/cluster.ts';
import { LinkedAbort } from '../waiting/linked-abort.ts';
import { type Request, requestKey } from './reconcile.ts';
import type { WrittenVersion } from '../cache/written-versions.ts';

/** How long a request waits for the caches to see what was written; a broken watch must not stop it for good. */
const CATCH_UP_MS = 5_000;

/** What a reconcile wrote, and in which cluster: its own or another. */
export interface PlacedWrite {
  cluster: string;
  version: WrittenVersion;
}

interface Entry {
  writes: PlacedWrite[];
  /** Ends the waiting, once that has begun. */
  waiting: AbortController | undefined;
}

export interface WriteLedgerOptions {
  clock: Clock;
  /** Engaged or local. */
  cluster: (name: string) => EngagedCluster | undefined;
}

/** Which writes of a request's last reconcile the caches may not have seen yet. */
export class WriteLedger {
  readonly #options: WriteLedgerOptions;
  /** By cluster and request. */
  readonly #entries = new Map<string, Map<string, Entry>>();

  constructor(options: WriteLedgerOptions) {
    this.#options = options;
  }

  note(request: Request, write: PlacedWrite): void {
    const ofCluster = this.#entries.get(request.cluster) ?? new Map<string, Entry>();
    this.#entries.set(request.cluster, ofCluster);
    const key = requestKey(request);
    const entry = ofCluster.get(key) ?? { writes: [], waiting: undefined };
    entry.writes.push(write);
    ofCluster.set(key, entry);
  }

  /**
   * Resolves with true where the caches have all of it, within the turn of the event loop. Else with false, and `later` is called
   * when they have, or after 5 s: once, however often is asked until then, and not at all when the cluster is dropped first.
   */
  async isSeen(request: Request, later: () => void): Promise<boolean> {
    const entry = this.#entries.get(request.cluster)?.get(requestKey(request));
    if (!entry) return true;
    if (entry.waiting) return false;
    const waiting = new AbortController();
    entry.waiting = waiting;
    let parked: boolean | undefined;
    const seen = this.#seen(request, entry.writes, waiting.signal).then(() => {
      if (waiting.signal.aborted) return;
      this.#entries.get(request.cluster)?.delete(requestKey(request));
      if (parked) later();
      else parked = false;
    });
    await Promise.race([seen, new Promise((resolve) => setImmediate(resolve))]);
    parked ??= true;
    return !parked;
  }

  /** Nothing of the cluster's requests is waited for any longer. */
  drop(cluster: string): void {
    for (const { waiting } of this.#entries.get(cluster)?.values() ?? []) waiting?.abort();
    this.#entries.delete(cluster);
  }

  /** As {@link drop}, of every cluster. */
  close(): void {
    for (const cluster of this.#entries.keys()) this.drop(cluster);
  }

  async #seen(request: Request, writes: readonly PlacedWrite[], ending: AbortSignal): Promise<void> {
    const { clock, cluster } = this.#options;
    using patience = new LinkedAbort(ending);
    const cancelTimer = clock.setTimer(() => patience.abort(undefined), CATCH_UP_MS, { background: true });
    await Promise.all(
      writes.map(async ({ cluster: name, version }) => {
        const written = cluster(name);
        // Another cluster that is away must not delay what goes on in the others.
        if (name !== request.cluster && written?.health() === 'Unreachable') return;
        await written?.cache.reached(version, patience.signal);
      }),
    );
    cancelTimer();
  }
}

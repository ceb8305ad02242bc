import { type Clock, sleep } from '@asterism/client';
import { backoff, type Cluster, type Logger, type WatcherProgress } from '@asterism/runtime';
import type { SearchStore } from '@asterism/store';
import { indexedResourceClient } from './indexed-resource-client.ts';
import type { IndexedResource } from './indexed-resources.ts';
import { syncSource } from './sync-source.ts';

export interface SourceKeeperOptions {
  cluster: Cluster;
  resource: IndexedResource;
  store: SearchStore;
  logger: Logger;
  clock: Clock;
  random: () => number;
  signal: AbortSignal;
}

/** After a failure of the store, which is more than a row: a full disk takes its time. */
const RETRY = { initialMs: 1_000, factor: 2, capMs: 60_000, jitter: 1 };

/** Runs one source from its making until it is stopped, again and again where the store fails. */
export class SourceKeeper {
  readonly resource: IndexedResource;
  readonly #options: SourceKeeperOptions;
  readonly #abort = new AbortController();
  readonly #running: Promise<void>;
  #isFollowing = false;

  constructor(options: SourceKeeperOptions) {
    this.resource = options.resource;
    this.#options = options;
    this.#running = this.#run();
  }

  /** Whether what is stored is as new as the cluster tells. */
  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  /** Resolves when what was read is written. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { cluster, store, clock, random, logger } = this.#options;
    const { type, namespaces } = this.resource;
    const signal = AbortSignal.any([this.#options.signal, this.#abort.signal]);
    const watched = () => ({
      client: indexedResourceClient(cluster.client, type),
      replaced: cluster.replaced,
      answersAgain: (ending: AbortSignal) => cluster.answersAgain(ending),
    });
    const retry = backoff({ ...RETRY, random });
    const onProgress = (progress: WatcherProgress): void => this.#note(progress);
    while (!signal.aborted) {
      try {
        const name = cluster.name;
        await syncSource({ cluster: name, type, namespaces, store, watched, signal, clock, random, onProgress });
      } catch (error) {
        if (signal.aborted) return;
        this.#isFollowing = false;
        const delayMs = retry.next();
        logger.warn(
          { err: error, retryMs: Math.round(delayMs) },
          'the search store failed: this resource waits for it',
        );
        await sleep(clock, delayMs, signal).catch(() => {});
      }
    }
  }

  #note(progress: WatcherProgress): void {
    this.#isFollowing = progress.state === 'watching';
    if (progress.state !== 'waiting') return;
    const { error, delayMs } = progress;
    const message = error instanceof Error ? error.message : String(error);
    this.#options.logger.debug({ delayMs: Math.round(delayMs) }, `the watch for search was interrupted: ${message}`);
  }
}

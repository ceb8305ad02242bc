import { type Clock, sleep } from '@asterism/client';
import { backoff, type Cluster, type Logger, type WatcherProgress } from '@asterism/runtime';
import { isStoreError, type SearchStore, type Share } from '@asterism/store';
import { indexedResourceClient, type SkippedObject } from './indexed-resource-client.ts';
import type { IndexedResource } from './indexed-resources.ts';
import { syncSource } from './sync-source.ts';

export interface SourceKeeperOptions {
  cluster: Cluster;
  resource: IndexedResource;
  store: SearchStore;
  /** How much of the cluster may be stored, as of now. */
  share: () => Share;
  /** Called when the cluster reaches its share while this resource is stored, and when that is over. */
  onShare: (isOver: boolean) => void;
  logger: Logger;
  clock: Clock;
  random: () => number;
  signal: AbortSignal;
}

/** After a failure of the store, which is more than a row: a full disk takes its time. */
const RETRY = { initialMs: 1_000, factor: 2, capMs: 60_000, jitter: 1 };

/** After the cluster reached its share: each try may list the resource again. */
const SHARE_RETRY = { initialMs: 60_000, factor: 2, capMs: 3_600_000, jitter: 1 };
/** Objects that were skipped and are remembered by name. */
const MOST_SKIPPED = 1_000;

/** Runs one source from its making until it is stopped, again and again where the store fails. */
export class SourceKeeper {
  readonly resource: IndexedResource;
  readonly #options: SourceKeeperOptions;
  readonly #abort = new AbortController();
  readonly #running: Promise<void>;
  readonly #skipped = new Set<string>();
  #isFollowing = false;
  #isOverShare = false;
  /** Ends the wait for a larger share. */
  #wait = new AbortController();

  constructor(options: SourceKeeperOptions) {
    this.resource = options.resource;
    this.#options = options;
    this.#running = this.#run();
  }

  /** Whether what is stored is as new as the cluster tells. */
  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  /** Whether the cluster has reached its share, so that this resource is not complete. */
  get isOverShare(): boolean {
    return this.#isOverShare;
  }

  /** Names of objects that are not kept because they are nested too deeply. */
  get skipped(): readonly string[] {
    return [...this.#skipped];
  }

  /** The share may have changed. */
  look(): void {
    if (this.#isOverShare) this.#wait.abort();
  }

  /** Resolves when what was read is written. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { cluster, store, share, clock, random, logger } = this.#options;
    const { type, namespaces } = this.resource;
    const signal = AbortSignal.any([this.#options.signal, this.#abort.signal]);
    const watched = () => ({
      client: indexedResourceClient(cluster.client, type, (skipped) => this.#skip(skipped)),
      replaced: cluster.replaced,
      answersAgain: (ending: AbortSignal) => cluster.answersAgain(ending),
    });
    const retry = backoff({ ...RETRY, random });
    const shareRetry = backoff({ ...SHARE_RETRY, random });
    const onProgress = (progress: WatcherProgress): void => this.#note(progress);
    while (!signal.aborted) {
      try {
        const name = cluster.name;
        const source = { cluster: name, type, namespaces, store, share };
        await syncSource({ ...source, watched, signal, clock, random, onProgress });
      } catch (error) {
        if (signal.aborted) return;
        this.#isFollowing = false;
        if (isStoreError(error, 'OVER_SHARE')) {
          await this.#waitForRoom(error.message, shareRetry.next(), signal);
          continue;
        }
        const delayMs = retry.next();
        logger.warn(
          { err: error, retryMs: Math.round(delayMs) },
          'the search store failed: this resource waits for it',
        );
        await sleep(clock, delayMs, signal).catch(() => {});
      }
    }
  }

  async #waitForRoom(reason: string, delayMs: number, signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    logger.warn({ retryMs: Math.round(delayMs) }, `this resource is not complete in search: ${reason}`);
    this.#wait = new AbortController();
    this.#setOverShare(true);
    await sleep(clock, delayMs, AbortSignal.any([signal, this.#wait.signal])).catch(() => {});
  }

  #setOverShare(isOver: boolean): void {
    if (this.#isOverShare === isOver) return;
    this.#isOverShare = isOver;
    this.#options.onShare(isOver);
  }

  #skip({ namespace, name, maxDepth }: SkippedObject): void {
    const key = namespace === '' ? name : `${namespace}/${name}`;
    if (this.#skipped.has(key) || this.#skipped.size >= MOST_SKIPPED) return;
    this.#skipped.add(key);
    this.#options.logger.warn({ object: key }, `search does not keep an object of more than ${maxDepth} JSON levels`);
  }

  #note(progress: WatcherProgress): void {
    this.#isFollowing = progress.state === 'watching';
    if (this.#isFollowing) this.#setOverShare(false);
    if (progress.state !== 'waiting') return;
    const { error, delayMs } = progress;
    const message = error instanceof Error ? error.message : String(error);
    this.#options.logger.debug({ delayMs: Math.round(delayMs) }, `the watch for search was interrupted: ${message}`);
  }
}

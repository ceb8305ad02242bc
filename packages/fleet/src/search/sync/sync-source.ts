import { type Clock, systemClock } from '@asterism/client';
import { type ResourceType, objectKey } from '@asterism/machinery';
import { type WatcherEvent, type WatcherProgress, watchResource, type WatchSource } from '@asterism/runtime';
import {
  type DeletedKey,
  isStoreError,
  type ObjectRow,
  type Replacement,
  type SearchStore,
  type Share,
  type Source,
} from '@asterism/store';
import { type IndexedObject, rowOf } from './indexed-object.ts';

export interface SyncSourceOptions {
  cluster: string;
  type: ResourceType;
  /** Only what stands in these is kept; absent: everything. */
  namespaces?: readonly string[] | undefined;
  store: SearchStore;
  /** How much of the cluster may be stored, as of now. Absent: without bound. */
  share?: (() => Share) | undefined;
  /** The way to the member, as of now. */
  watched: () => WatchSource<IndexedObject>;
  signal: AbortSignal;
  clock?: Clock | undefined;
  random?: (() => number) | undefined;
  onProgress?: ((progress: WatcherProgress) => void) | undefined;
}

/** So many changes, or rows of a list, are written at once. */
const BATCH = 500;
/** Or fewer, where they are so many bytes together. */
const BATCH_BYTES = 8 * 1024 * 1024;
/** A change waits at most so long for others, ms. */
const BATCH_MS = 100;
/** How old the stored watermark may get while nothing changes, ms. After a crash the watch goes on from there. */
const WATERMARK_MS = 120_000;
/** The watermark of a source of which only some namespaces are kept: no other run may go on from it, since it may keep others. */
const NO_WATERMARK = '';

/**
 * Keeps one resource of one cluster in the store, until the signal aborts. Rejects when the store fails: started again, it goes
 * on from what is stored.
 *
 * S1 It goes on from the stored watermark, without a list; a list comes first where there is none, and where the member has
 *    lost the history.
 * S2 Rows and the watermark behind them are written together, so that a crash at any moment loses nothing.
 * S3 While a write runs the member is read no further than one batch ahead.
 * S5 Where the cluster has more than its share, deletions are still stored; then the run ends with `OVER_SHARE`.
 * S4 A failure of the member is waited out; the rows stay as they are.
 */
export async function syncSource(options: SyncSourceOptions): Promise<void> {
  await new SourceSync(options).run();
}

type Change = { upsert: ObjectRow } | { deleted: DeletedKey };

class SourceSync {
  readonly #options: SyncSourceOptions;
  readonly #source: Source;
  readonly #clock: Clock;
  readonly #namespaces: ReadonlySet<string> | undefined;
  readonly #broken = new AbortController();
  /** What is to be written, the last of each object. */
  #changes = new Map<string, Change>();
  /** That came since the last write. */
  #bytes = 0;
  /** The resourceVersion up to which everything is stored or in `#changes`; undefined while a list runs. */
  #seen: string | undefined;
  #stored: string | undefined;
  #timer: { due: number; cancel: () => void } | undefined;
  #writing: Promise<void> = Promise.resolve();
  #failure: unknown;

  constructor(options: SyncSourceOptions) {
    const { group, version, resource } = options.type;
    this.#options = options;
    this.#source = { cluster: options.cluster, group, version, resource };
    this.#clock = options.clock ?? systemClock;
    this.#namespaces = options.namespaces && new Set(options.namespaces);
  }

  async run(): Promise<void> {
    const { store, signal, watched, random } = this.#options;
    const watermark = this.#namespaces ? undefined : (await store.source(this.#source)).watermark || undefined;
    this.#seen = watermark;
    this.#stored = watermark;
    const events = watchResource<IndexedObject>(watched, {
      signal: AbortSignal.any([signal, this.#broken.signal]),
      clock: this.#clock,
      random,
      resourceVersion: watermark,
      onProgress: (progress) => this.#note(progress),
    });
    try {
      await this.#follow(events);
    } finally {
      this.#timer?.cancel();
    }
    await this.#flush();
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #follow(events: AsyncIterable<WatcherEvent<IndexedObject>>): Promise<void> {
    let list: IncomingList | undefined;
    for await (const event of events) {
      if (event.type === 'Init') {
        await this.#flush();
        this.#seen = undefined;
        const replacement = await this.#options.store.beginReplace(this.#source);
        list = new IncomingList(replacement, this.#options.share);
      } else if (event.type === 'InitApply') {
        if (this.#keeps(event.object)) await list?.add(this.#rowOf(event.object));
      } else if (event.type === 'InitDone') {
        await list?.finish(this.#namespaces ? NO_WATERMARK : event.resourceVersion);
        list = undefined;
        this.#seen = event.resourceVersion;
        this.#stored = event.resourceVersion;
      } else {
        if (this.#keeps(event.object)) this.#add(event.type, event.object);
        this.#see(event.object.metadata.resourceVersion);
        if (this.#changes.size >= BATCH || this.#bytes >= BATCH_BYTES) await this.#flush();
      }
    }
  }

  #keeps({ metadata }: IndexedObject): boolean {
    return this.#namespaces === undefined || this.#namespaces.has(metadata.namespace ?? '');
  }

  #add(type: 'Apply' | 'Delete', object: IndexedObject): void {
    const { namespace = '', name = '', resourceVersion } = object.metadata;
    const change: Change =
      type === 'Delete' ? { deleted: { namespace, name, resourceVersion } } : { upsert: this.#rowOf(object) };
    this.#changes.set(objectKey(object), change);
    this.#bytes += object.bytes.length;
    this.#writeWithin(BATCH_MS);
  }

  #rowOf(object: IndexedObject): ObjectRow {
    return rowOf(object, this.#options.type, this.#options.cluster);
  }

  #note(progress: WatcherProgress): void {
    if (progress.state === 'watching') this.#see(progress.resourceVersion);
    this.#options.onProgress?.(progress);
  }

  #see(resourceVersion: string | undefined): void {
    if (this.#seen === undefined || !resourceVersion) return;
    this.#seen = resourceVersion;
    if (resourceVersion !== this.#stored && !this.#namespaces) this.#writeWithin(WATERMARK_MS);
  }

  #writeWithin(ms: number): void {
    const due = this.#clock.monotonic() + ms;
    if (this.#timer && this.#timer.due <= due) return;
    this.#timer?.cancel();
    this.#timer = { due, cancel: this.#clock.setTimer(() => void this.#flush(), ms) };
  }

  /** Writes what there is, after what is being written. Never rejects: a failure ends the watch, and the run with it. */
  #flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#writing = this.#writing
      .then(() => this.#write())
      .catch((error: unknown) => {
        this.#failure ??= error;
        this.#broken.abort(error);
      });
    return this.#writing;
  }

  async #write(): Promise<void> {
    const changes = [...this.#changes.values()];
    const seen = this.#seen;
    const watermark = this.#namespaces || seen === this.#stored ? undefined : seen;
    if (this.#failure !== undefined || (changes.length === 0 && watermark === undefined)) return;
    this.#changes = new Map();
    this.#bytes = 0;
    const { store, share } = this.#options;
    const deletes = changes.flatMap((change) => ('deleted' in change ? [change.deleted] : []));
    const writing = store.applyChanges(this.#source, {
      upserts: changes.flatMap((change) => ('upsert' in change ? [change.upsert] : [])),
      deletes,
      share: share?.(),
      watermark,
    });
    await writing.catch(async (error: unknown) => {
      // What goes is stored all the same: it makes room.
      if (isStoreError(error, 'OVER_SHARE') && deletes.length > 0) await store.applyChanges(this.#source, { deletes });
      throw error;
    });
    this.#stored = seen;
  }
}

/** A list on its way into the store, a page at a time. */
class IncomingList {
  readonly #replacement: Replacement;
  readonly #share: (() => Share) | undefined;
  #rows: ObjectRow[] = [];
  #bytes = 0;

  constructor(replacement: Replacement, share: (() => Share) | undefined) {
    this.#replacement = replacement;
    this.#share = share;
  }

  async add(row: ObjectRow): Promise<void> {
    this.#rows.push(row);
    this.#bytes += row.object.length;
    if (this.#rows.length >= BATCH || this.#bytes >= BATCH_BYTES) await this.#store();
  }

  async finish(watermark: string): Promise<void> {
    if (this.#rows.length > 0) await this.#store();
    await this.#replacement.finish(watermark);
  }

  async #store(): Promise<void> {
    await this.#replacement.add(this.#rows, {}, this.#share?.());
    this.#rows = [];
    this.#bytes = 0;
  }
}

import { failure, isNotFound, type KubeObject, parseApiVersion } from '@asterism/machinery';
import {
  type Clock,
  type Cluster,
  type IndexFunction,
  type Informer,
  type InformerHandler,
  type Store,
  systemClock,
} from '@asterism/runtime';

/** How long a reader waits for the first list of a kind; a list that fails must not hold it for longer. */
const PATIENCE_MS = 10_000;

/** How often a first list is looked at, to see a refusal, in ms. */
const REFUSAL_LOOK_MS = 50;

/**
 * When a kind that is not served is looked for again, in ms, each after the one before. A server of before 1.26 tells of a new kind a
 * while after its definition says that it is established, and is not asked about all of its kinds more often than every 5 s.
 */
const LATE_MS = [1_000, 6_000, 20_000];

/** A kind as objects name it. */
export interface Kind {
  apiVersion: string;
  kind: string;
}

export interface KindInformersOptions {
  cluster: Cluster;
  labelSelector?: string | undefined;
  /** Added to every informer. The same function for the same name, always: informers are shared. */
  indexes?: Readonly<Record<string, IndexFunction<KubeObject>>> | undefined;
  clock?: Clock | undefined;
}

interface Entry {
  kind: Kind;
  holders: Set<string>;
  /** Undefined while it is being opened, and where the cluster does not serve the kind. */
  informer: Informer | undefined;
  /** Whether it is known what there is of the kind, or that it takes too long to find out. */
  listed: boolean;
  opening: Promise<void>;
  /** Ends the looking for a kind that is not served. */
  stopLooking: (() => void) | undefined;
}

/**
 * Informers of one cluster by kind, for kinds that come and go: each is engaged while somebody holds the kind.
 *
 * K1 A kind that the cluster does not serve is no error: it has no objects. `recheck` looks again; so does it by itself, a few times,
 *    for a server that is late to say what it serves.
 * K2 Holding and releasing return at once; whoever reads an objects' absence waits for `synced` before.
 */
export class KindInformers {
  readonly #options: KindInformersOptions;
  readonly #handlers: InformerHandler[] = [];
  readonly #entries = new Map<string, Entry>();

  constructor(options: KindInformersOptions) {
    this.#options = options;
  }

  /** Calls the handler for every object of every kind that is held, now and later. */
  addHandler(handler: InformerHandler): void {
    this.#handlers.push(handler);
    for (const { informer } of this.#entries.values()) informer?.addHandler(handler);
  }

  /** From now on the holder needs exactly these kinds; none at all lets go of everything. */
  hold(holder: string, kinds: readonly Kind[]): void {
    const wanted = new Map(kinds.map(({ apiVersion, kind }) => [keyOf({ apiVersion, kind }), { apiVersion, kind }]));
    for (const [key, { holders }] of this.#entries) {
      if (!wanted.has(key) && holders.delete(holder) && holders.size === 0) this.#release(key);
    }
    for (const [key, kind] of wanted) {
      const entry = this.#entries.get(key) ?? this.#engage(key, kind);
      entry.holders.add(holder);
    }
  }

  /** Every kind that is held, served or not. */
  kinds(): Kind[] {
    return [...this.#entries.values()].map(({ kind }) => kind);
  }

  /** The versions of a kind that are held, served or not. */
  versionsOf({ group, kind }: { group: string; kind: string }): Kind[] {
    return this.kinds().filter((each) => each.kind === kind && parseApiVersion(each.apiVersion).group === group);
  }

  has(kind: Kind): boolean {
    return this.#entries.has(keyOf(kind));
  }

  /**
   * The objects of a held kind, complete; undefined where the kind is not held or not served. Rejects when they cannot be listed,
   * with a `StatusError` where the server says so, and with the signal's reason.
   */
  async synced(kind: Kind, signal: AbortSignal): Promise<Store | undefined> {
    const key = keyOf(kind);
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    await entry.opening.catch(() => this.#reopen(entry));
    if (entry.informer) await this.#complete(kind, entry.informer, signal);
    return this.#entries.get(key)?.informer?.store;
  }

  /**
   * As `synced`, for whoever is better off with what is known than with an error: of a kind that could not be listed in time nobody
   * waits for the list again.
   */
  async listed(kind: Kind, signal: AbortSignal): Promise<Store | undefined> {
    const entry = this.#entries.get(keyOf(kind));
    if (entry && !entry.listed) {
      await this.synced(kind, signal).catch(() => undefined);
      entry.listed = true;
    }
    return this.store(kind);
  }

  /** Kinds that are held and for whose list {@link listed} would wait. */
  unlisted(): Kind[] {
    return [...this.#entries.values()].filter((entry) => !entry.listed).map(({ kind }) => kind);
  }

  /** Whether the server does not let the account list the kind, so that nothing is known of its objects. */
  isForbidden(kind: Kind): boolean {
    const informer = this.#entries.get(keyOf(kind))?.informer;
    return informer !== undefined && isRefused(informer);
  }

  /** What is known of a kind's objects now, complete or not. */
  store(kind: Kind): Store | undefined {
    return this.#entries.get(keyOf(kind))?.informer?.store;
  }

  /** What the cluster serves has changed: opens what can be opened now, and closes what is not served any more. */
  recheck(): void {
    this.#options.cluster.client.discovery.refresh();
    for (const entry of this.#entries.values()) this.#look(entry);
  }

  async #complete({ apiVersion, kind }: Kind, informer: Informer, signal: AbortSignal): Promise<void> {
    if (informer.hasSynced) return;
    const patience = new AbortController();
    const { clock = systemClock } = this.#options;
    const cancel = clock.setTimer(() => patience.abort(), PATIENCE_MS, { background: true });
    // A refusal is an answer: no waiting helps, until an administrator gives the right.
    const look = (): (() => void) => {
      if (isRefused(informer)) patience.abort();
      return clock.setTimer(() => (stop = look()), REFUSAL_LOOK_MS, { background: true });
    };
    let stop = look();
    try {
      await informer.synced(AbortSignal.any([signal, patience.signal]));
    } catch (error) {
      if (!patience.signal.aborted || signal.aborted) throw error;
      const { code, message = 'no answer yet' } = informer.status;
      const why = `${apiVersion} ${kind} cannot be listed: ${message}`;
      throw typeof code === 'number' ? failure(code, why) : new Error(why, { cause: error });
    } finally {
      cancel();
      stop();
    }
  }

  #engage(key: string, kind: Kind): Entry {
    const entry: Entry = {
      kind,
      holders: new Set(),
      informer: undefined,
      listed: false,
      opening: Promise.resolve(),
      stopLooking: undefined,
    };
    this.#entries.set(key, entry);
    this.#look(entry);
    return entry;
  }

  /** Opens it, now or where it is served late. A failure is no matter here: whoever needs it awaits `synced`, which tries again. */
  #look(entry: Entry, late: readonly number[] = LATE_MS): void {
    entry.stopLooking?.();
    entry.stopLooking = undefined;
    const lookAgain = (): void => {
      const [delay, ...later] = late;
      const { cluster, clock = systemClock } = this.#options;
      const held = this.#entries.get(keyOf(entry.kind)) === entry;
      if (delay === undefined || entry.informer || !held || cluster.signal.aborted) return;
      const again = (): void => {
        cluster.client.discovery.refresh();
        this.#look(entry, later);
      };
      entry.stopLooking?.();
      entry.stopLooking = clock.setTimer(again, delay, { background: true });
    };
    this.#reopen(entry).then(lookAgain, lookAgain);
  }

  #reopen(entry: Entry): Promise<void> {
    entry.opening = this.#open(entry);
    return entry.opening;
  }

  async #open(entry: Entry): Promise<void> {
    const { cluster, labelSelector, indexes = {} } = this.#options;
    const type = await cluster.client.discovery.typeFor(entry.kind).catch((error) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    const held = this.#entries.get(keyOf(entry.kind)) === entry;
    if (!type || !held) {
      entry.informer?.release();
      entry.informer = undefined;
      return;
    }
    if (entry.informer || cluster.signal.aborted) return;
    const informer = cluster.cache.informer(type, { labelSelector });
    for (const [name, index] of Object.entries(indexes)) informer.addIndex(name, index);
    entry.informer = informer;
    for (const handler of this.#handlers) informer.addHandler(handler);
  }

  #release(key: string): void {
    const entry = this.#entries.get(key);
    this.#entries.delete(key);
    entry?.stopLooking?.();
    entry?.informer?.release();
  }
}

const isRefused = ({ hasSynced, status }: Informer): boolean => !hasSynced && status.code === 403;

function keyOf({ apiVersion, kind }: Kind): string {
  return `${apiVersion}/${kind}`;
}

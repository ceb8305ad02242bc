import { type Clock, sleep, systemClock } from '@asterism/client';
import { type Cluster as EngagedCluster, backoff, type Informer, type Logger, type Manager } from '@asterism/runtime';
import type { SearchStore } from '@asterism/store';
import {
  type Cluster,
  CLUSTERS,
  HUB_CONFIGURATION,
  HUB_CONFIGURATIONS,
  type HubConfiguration,
} from '../../api/index.ts';
import { DEFAULT_INDEX } from '../../join/registration/cluster-of-registration.ts';
import type { SearchCatalogue } from '../search-catalogue.ts';
import { ClusterSync } from './cluster-sync.ts';
import { describeStored } from './describe-stored.ts';
import { reportShare } from './report-share.ts';
import { DEFAULT_SEARCH_BYTES, searchShare } from './search-share.ts';

export interface SearchSyncOptions {
  /** Told what is followed, for those who answer queries. */
  catalogue: SearchCatalogue;
  logger: Logger;
  clock?: Clock | undefined;
  /** From 0 to below 1. */
  random?: (() => number) | undefined;
  /** How often a cluster is asked what it serves when nothing says that it changed, ms. Default 10 minutes. */
  discoverMs?: number | undefined;
}

const DISCOVER_MS = 600_000;
/** Between two steps of giving space back, ms. */
const RECLAIM_PAUSE_MS = 10;
const RETRY = { initialMs: 1_000, factor: 2, capMs: 60_000, jitter: 1 };

/**
 * Has the manager keep in the store what each member's Cluster says is indexed of it (`spec.index`; where it says nothing,
 * {@link DEFAULT_INDEX}). The manager's local cluster is the hub. Ends with the manager, when everything read is written; the
 * store stays open.
 *
 * A1 Rows of a cluster that is away stay; they go when its Cluster is deleted, also when that happened while nobody looked.
 * A3 A cluster that has more than its share (`spec.searchShare`, or the HubConfiguration's) gets the condition
 *    `SearchWithinShare=False`; no other cluster notices.
 * A2 A cluster is taken for another one when its `kube-system` namespace has another uid: its rows go first.
 */
export function addSearchSync(manager: Manager, store: SearchStore, options: SearchSyncOptions): void {
  manager.add({ name: 'search', run: (signal) => new SearchSync(manager, store, options).run(signal) });
}

/** A cluster's turns, one after the other: follow, forget, follow again. */
interface Member {
  sync?: ClusterSync | undefined;
  leaving: AbortController;
  turns: Promise<void>;
  /** Writes to the Cluster's status, one after the other. */
  reports: Promise<void>;
}

class SearchSync {
  readonly #manager: Manager;
  readonly #store: SearchStore;
  readonly #catalogue: SearchCatalogue;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #discoverMs: number;
  readonly #clusters: Informer<Cluster>;
  readonly #configurations: Informer<HubConfiguration>;
  readonly #members = new Map<string, Member>();

  constructor(manager: Manager, store: SearchStore, options: SearchSyncOptions) {
    this.#manager = manager;
    this.#store = store;
    this.#catalogue = options.catalogue;
    this.#logger = options.logger;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#discoverMs = options.discoverMs ?? DISCOVER_MS;
    this.#clusters = manager.local.cache.informer(CLUSTERS);
    this.#configurations = manager.local.cache.informer(HUB_CONFIGURATIONS);
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#clusters.synced(signal);
      await this.#patiently(() => this.#recall(), signal);
      if (!signal.aborted) await this.#follow(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#clusters.release();
      this.#configurations.release();
      await Promise.all([...this.#members.values()].map(({ turns }) => turns));
    }
  }

  /** What the store knows from before: clusters that are gone are forgotten, the others can be searched at once. */
  async #recall(): Promise<void> {
    const stored = Map.groupBy(await this.#store.sources(), ({ cluster }) => cluster);
    for (const name of stored.keys()) {
      if (this.#clusters.store.get(name)) continue;
      const rows = await this.#store.dropCluster(name);
      this.#logger.info({ cluster: name, rows }, 'the cluster is gone: its rows were dropped');
    }
    for (const cluster of this.#clusters.store.list()) {
      this.#introduce(cluster, stored.get(cluster.metadata.name ?? '') ?? []);
    }
  }

  #introduce(cluster: Cluster, stored: Parameters<typeof describeStored>[0] = []): void {
    const indexed = describeStored(stored, cluster.status?.apis ?? []);
    this.#catalogue.set(cluster.metadata.name ?? '', { indexed, isFollowed: () => false });
  }

  /** Resolves when the signal aborts. */
  async #follow(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => resolve(), { once: true });
    this.#clusters.addHandler({
      onAdd: (cluster) => {
        if (!this.#catalogue.get(cluster.metadata.name ?? '')) this.#introduce(cluster);
      },
      onUpdate: ({ metadata: before }, { metadata }) => {
        if (before.generation !== metadata.generation) this.#members.get(metadata.name ?? '')?.sync?.look();
      },
      onDelete: ({ metadata }) => this.#forget(metadata.name ?? '', signal),
    });
    const onConfiguration = (): void => void this.#configure(signal);
    this.#configurations.addHandler({
      onAdd: onConfiguration,
      onUpdate: onConfiguration,
      onDelete: onConfiguration,
    });
    onConfiguration(); // There may be none.
    const ignore = this.#manager.onEngage((cluster) => this.#enter(cluster, signal));
    if (!signal.aborted) await promise;
    ignore();
  }

  /** The configuration of the hub may have changed. */
  async #configure(signal: AbortSignal): Promise<void> {
    const bytes = this.#configurations.store.get(HUB_CONFIGURATION)?.spec.search?.maxBytes ?? DEFAULT_SEARCH_BYTES;
    for (const { sync } of this.#members.values()) sync?.look();
    await this.#patiently(() => this.#store.limit(bytes), signal);
  }

  #shareOf(name: string) {
    return searchShare(this.#clusters.store.get(name), this.#configurations.store.get(HUB_CONFIGURATION));
  }

  /** Of what a cluster's status says of its share, the newest counts. */
  #reportShare(name: string, incomplete: readonly string[], signal: AbortSignal): void {
    const member = this.#member(name);
    member.reports = member.reports.then(() =>
      this.#patiently(async () => {
        const state = { share: this.#shareOf(name), usage: await this.#store.usage(name), incomplete };
        await reportShare(this.#manager.local.client, name, state, { now: this.#clock.wall().getTime(), signal });
      }, signal),
    );
  }

  #member(name: string): Member {
    const member = this.#members.get(name) ?? {
      leaving: new AbortController(),
      turns: Promise.resolve(),
      reports: Promise.resolve(),
    };
    this.#members.set(name, member);
    return member;
  }

  #enter(cluster: EngagedCluster, signal: AbortSignal): void {
    const { name } = cluster;
    const member = this.#member(name);
    const logger = this.#logger.child({ cluster: name });
    const stay = AbortSignal.any([signal, cluster.signal, member.leaving.signal]);
    const sync = new ClusterSync({
      cluster,
      store: this.#store,
      catalogue: this.#catalogue,
      rules: () => this.#rulesOf(name),
      share: () => this.#shareOf(name),
      onShare: (incomplete) => this.#reportShare(name, incomplete, stay),
      logger,
      clock: this.#clock,
      random: this.#random,
      discoverMs: this.#discoverMs,
    });
    this.#takeTurn(member, async () => {
      await this.#patiently(() => this.#dropPredecessor(name), stay);
      member.sync = sync;
      await sync.run(stay);
      if (member.sync === sync) member.sync = undefined;
    });
  }

  #rulesOf(name: string) {
    const cluster = this.#clusters.store.get(name);
    return cluster && (cluster.spec.index ?? DEFAULT_INDEX);
  }

  /** A cluster that was built anew under the same name has the same names and resourceVersions, and nothing else in common. */
  async #dropPredecessor(name: string): Promise<void> {
    const id = this.#clusters.store.get(name)?.spec.id;
    const namespaces = [{ group: '', version: 'v1', resource: 'namespaces' }];
    const { rows } = await this.#store.query({
      clusters: [name],
      resources: namespaces,
      names: ['kube-system'],
      limit: 1,
    });
    if (id === undefined || !rows[0] || rows[0].uid === id) return;
    const dropped = await this.#store.dropCluster(name);
    this.#logger.warn(
      { cluster: name, rows: dropped },
      'another cluster has this name now: rows of the old were dropped',
    );
  }

  #forget(name: string, signal: AbortSignal): void {
    const member = this.#member(name);
    member.leaving.abort();
    member.leaving = new AbortController();
    this.#catalogue.delete(name);
    this.#takeTurn(member, async () => {
      await this.#patiently(async () => {
        const rows = await this.#store.dropCluster(name);
        this.#logger.info({ cluster: name, rows }, 'the cluster left: its rows were dropped');
        if (rows > 0) await this.#reclaim(signal);
      }, signal);
      if (this.#clusters.store.get(name)) return;
      this.#catalogue.delete(name); // Its last discovery may have put it there again.
      this.#members.delete(name);
    });
  }

  /** Gives the space that deleted rows left back to the disk, in steps between which others get their turn. */
  async #reclaim(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await this.#store.reclaim()))
      await sleep(this.#clock, RECLAIM_PAUSE_MS, signal).catch(() => {});
  }

  #takeTurn(member: Member, turn: () => Promise<void>): void {
    member.turns = member.turns.then(turn).catch((error: unknown) => {
      this.#logger.error({ err: error }, 'search stopped following a cluster');
    });
  }

  /** Tries until the store does it, or the signal aborts. */
  async #patiently(action: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const retry = backoff({ ...RETRY, random: this.#random });
    while (!signal.aborted) {
      try {
        await action();
        return;
      } catch (error) {
        if (signal.aborted) return;
        const delayMs = retry.next();
        this.#logger.warn({ err: error, retryMs: Math.round(delayMs) }, 'the search store failed');
        await sleep(this.#clock, delayMs, signal).catch(() => {});
      }
    }
  }
}

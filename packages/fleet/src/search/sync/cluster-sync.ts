import { type Clock, type DiscoveredResource, sleep, unlessAborted } from '@asterism/client';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomResourceDefinition,
  deepEqual,
  formatGroupResource,
  type GroupVersionResource,
  type ResourceType,
  resourcePath,
} from '@asterism/machinery';
import { backoff, type Cluster, type Informer, type Logger } from '@asterism/runtime';
import type { SearchStore, Share, Source } from '@asterism/store';
import { Doorbell } from '../../join/health/doorbell.ts';
import type { SearchCatalogue } from '../search-catalogue.ts';
import { type IndexedResource, type IndexRule, planIndex } from './indexed-resources.ts';
import { SourceKeeper } from './source-keeper.ts';

export interface ClusterSyncOptions {
  cluster: Cluster;
  store: SearchStore;
  catalogue: SearchCatalogue;
  /** What is to be indexed, as of now; undefined when the cluster is leaving. */
  rules: () => readonly IndexRule[] | undefined;
  /** How much of the cluster may be stored, as of now. */
  share: () => Share;
  /** Called with the resources that are not complete, because the cluster reached its share. */
  onShare: (incomplete: readonly string[]) => void;
  logger: Logger;
  clock: Clock;
  random: () => number;
  /** How often the cluster is asked what it serves when nothing says that it changed, ms. */
  discoverMs: number;
}

/** Definitions come in bursts, and are served moments after they come: so long after the first of one, ms. */
const SETTLE_MS = 100;
const RETRY = { initialMs: 1_000, factor: 2, capMs: 30_000, jitter: 1 };

/**
 * Keeps what is indexed of one cluster in the store: finds out what the cluster serves, now and whenever that or the rules
 * change, and runs a source for each resource that is to be kept.
 *
 * C1 Rows go when a rule no longer wants them, or when the cluster says that it does not serve them (404): not because it, or
 *    the server behind one of its APIs, could not be asked.
 * C2 Nothing here waits for another cluster, or makes one wait.
 */
export class ClusterSync {
  readonly #options: ClusterSyncOptions;
  readonly #bell: Doorbell;
  readonly #keepers = new Map<string, SourceKeeper>();
  #definitions: Informer<CustomResourceDefinition> | undefined;

  constructor(options: ClusterSyncOptions) {
    this.#options = options;
    this.#bell = new Doorbell(options.clock);
  }

  /** The rules may have changed. */
  look(): void {
    this.#bell.ring();
    for (const keeper of this.#keepers.values()) keeper.look();
  }

  /** Resolves when the signal aborts and everything that was read is written. */
  async run(signal: AbortSignal): Promise<void> {
    const { cluster, clock, random, logger, discoverMs } = this.#options;
    const look = (): void => this.look();
    const retry = backoff({ ...RETRY, random });
    while (!signal.aborted) {
      const { replaced } = cluster;
      replaced.addEventListener('abort', look);
      let waitMs = discoverMs * (1 + random());
      try {
        await this.#align(signal);
        retry.reset();
      } catch (error) {
        if (signal.aborted) break;
        waitMs = retry.next();
        logger.warn({ err: error, retryMs: Math.round(waitMs) }, 'what is indexed of this cluster could not be told');
      }
      await this.#bell.wait(waitMs, signal);
      replaced.removeEventListener('abort', look);
      await sleep(clock, SETTLE_MS, signal).catch(() => {});
    }
    this.#definitions?.release();
    await Promise.all([...this.#keepers.values()].map((keeper) => keeper.stop()));
  }

  async #align(signal: AbortSignal): Promise<void> {
    const { rules: rulesOfNow, logger } = this.#options;
    // Where nothing is to be kept nobody need ask the cluster anything.
    const found = rulesOfNow()?.length === 0 ? undefined : await this.#discover(signal);
    const rules = found ? rulesOfNow() : [];
    if (!rules) return;
    const served = rules.length === 0 ? undefined : found;
    this.#followDefinitions(served);
    const { resources, gaps } = planIndex(rules, served ?? []);
    for (const { resource, reason } of gaps) logger.debug({ resource }, `cannot be indexed: ${reason}`);
    const wanted = new Map(resources.map((resource) => [keyOf(resource.type), resource]));
    this.#tell(resources, signal);
    await this.#stopUnwanted(wanted);
    for (const [key, resource] of wanted) this.#keep(key, resource, signal);
    await this.#dropUnwanted(wanted, served, signal);
  }

  async #discover(signal: AbortSignal): Promise<readonly DiscoveredResource[]> {
    const { discovery } = this.#options.cluster.client;
    discovery.refresh();
    return await unlessAborted(discovery.resources(), signal);
  }

  #tell(resources: readonly IndexedResource[], signal: AbortSignal): void {
    const { cluster, catalogue } = this.#options;
    catalogue.set(cluster.name, {
      indexed: resources.map(({ type }) => type),
      columns: (type) => this.#columns(type),
      notKept: (type) => {
        const keeper = this.#keepers.get(keyOf(type));
        return { skipped: keeper?.skipped ?? [], overShare: keeper?.isOverShare ?? false };
      },
      isFollowed: () => !signal.aborted && [...this.#keepers.values()].every(({ isFollowing }) => isFollowing),
    });
  }

  #incomplete(): string[] {
    const over = [...this.#keepers.values()].filter(({ isOverShare }) => isOverShare);
    return over.map(({ resource }) => formatGroupResource(resource.type)).sort();
  }

  async #stopUnwanted(wanted: ReadonlyMap<string, IndexedResource>): Promise<void> {
    const unwanted = [...this.#keepers].filter(
      ([key, { resource }]) => !deepEqual(wanted.get(key)?.namespaces, resource.namespaces) || !wanted.has(key),
    );
    for (const [key] of unwanted) this.#keepers.delete(key);
    await Promise.all(unwanted.map(([, keeper]) => keeper.stop()));
    if (unwanted.some(([, { isOverShare }]) => isOverShare)) this.#options.onShare(this.#incomplete());
  }

  #keep(key: string, resource: IndexedResource, signal: AbortSignal): void {
    if (this.#keepers.has(key)) return;
    const { cluster, store, share, clock, random, logger } = this.#options;
    const ofSource = logger.child({ resource: formatGroupResource(resource.type) });
    const onShare = (): void => this.#options.onShare(this.#incomplete());
    const source = { cluster, resource, store, share, onShare };
    this.#keepers.set(key, new SourceKeeper({ ...source, clock, random, logger: ofSource, signal }));
  }

  async #dropUnwanted(
    wanted: ReadonlyMap<string, IndexedResource>,
    served: readonly DiscoveredResource[] | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { cluster, store, logger } = this.#options;
    const isServed = served && new Set(served.map(keyOf));
    for (const source of await store.sources(cluster.name)) {
      const key = keyOf(source);
      if (wanted.has(key) || (isServed && !isServed.has(key) && !(await this.#isGone(source, signal)))) continue;
      const rows = await store.dropSource(source);
      logger.info({ resource: formatGroupResource(source), version: source.version, rows }, 'no longer indexed');
    }
  }

  /** Whether the cluster itself says that it has no such resource. */
  async #isGone(source: Source, signal: AbortSignal): Promise<boolean> {
    const path = `${resourcePath(source)}?limit=1`;
    const { status, body } = await this.#options.cluster.client.request({ method: 'GET', path, signal });
    body.destroy();
    return status === 404;
  }

  /** For as long as anything is indexed and the cluster serves definitions: each change of one may change what it serves. */
  #followDefinitions(served: readonly DiscoveredResource[] | undefined): void {
    if (!served) {
      this.#definitions?.release();
      this.#definitions = undefined;
    }
    if (this.#definitions || !served?.some((type) => keyOf(type) === keyOf(CUSTOM_RESOURCE_DEFINITIONS))) return;
    const { cache } = this.#options.cluster;
    const look = (): void => this.look();
    this.#definitions = cache.informer(CUSTOM_RESOURCE_DEFINITIONS, { transform: trimDefinition });
    this.#definitions.addHandler({ onAdd: look, onUpdate: look, onDelete: look });
  }

  #columns({ group, version, resource }: ResourceType | GroupVersionResource) {
    const definition = this.#definitions?.store.get(`${resource}.${group}`);
    const served = definition?.spec.versions.find(({ name }) => name === version);
    return served && (served.additionalPrinterColumns ?? []);
  }
}

function keyOf({ group, version, resource }: GroupVersionResource): string {
  return `${group}/${version}/${resource}`;
}

/** The names and the columns: schemas are most of a definition, and of no use here. */
function trimDefinition({ metadata, spec }: CustomResourceDefinition): CustomResourceDefinition {
  const { name = '', uid = '', resourceVersion = '' } = metadata ?? {};
  const { group, names, scope } = spec;
  const versions = spec.versions.map(({ name: version, served, storage, additionalPrinterColumns }) => ({
    name: version,
    served,
    storage,
    ...(additionalPrinterColumns ? { additionalPrinterColumns } : {}),
  }));
  return { metadata: { name, uid, resourceVersion }, spec: { group, names, scope, versions } };
}

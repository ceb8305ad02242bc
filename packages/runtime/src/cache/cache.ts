import { type Client, type Clock, type ObjectRef, SubtreePool, unlessAborted } from '@asterism/client';
import {
  formatGroupResource,
  type KubeObject,
  matchesLabels,
  parseLabelSelector,
  type ResourceType,
  splitKey,
} from '@asterism/machinery';
import type { Informer, InformerOptions, InformerStatus } from './informer.ts';
import { Knocker } from '../watch/knocker.ts';
import type { Logger } from '../log/logger.ts';
import { SharedInformer } from './shared-informer.ts';
import type { WatchSource } from '../watch/watch-contract.ts';
import type { WrittenVersion } from './written-versions.ts';

/**
 * The informers of one cluster. They are explicit: reading a kind that has none is an error, not a watch by accident.
 *
 * @example
 * ```ts
 * const informer = cluster.cache.informer(DEPLOYMENTS, { namespace: 'shop', fields: ['spec.replicas'] });
 * await informer.synced(signal);
 * const web = cluster.cache.get(DEPLOYMENTS, { namespace: 'shop', name: 'web' });
 * for (const { resource, synced, status } of cluster.cache.status()) logger.info({ resource, synced, ...status }, 'informer');
 * ```
 */
export interface Cache {
  /**
   * Returns a hold on the informer of this type and options. Callers with the same type and options share one informer. It
   * starts with the cache, or at once if the cache has started.
   */
  informer<T extends KubeObject>(type: ResourceType<T>, options?: InformerOptions<T>): Informer<T>;
  /**
   * From the informer of everything, of the namespace, of this name (`metadata.name=NAME`), or else the only one there is of this
   * type. Throws when there is none that covers it, or when it is not synced yet.
   */
  get<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef): T | undefined;
  list<T extends KubeObject>(type: ResourceType<T>, options?: { namespace?: string | undefined }): T[];
  /** Every informer with what it hangs on. */
  status(): CacheStatus[];
  /** Until the signal aborts. */
  start(signal: AbortSignal): void;
}

/**
 * One informer of a cache, with what it hangs on.
 *
 * @example {@link Cache}
 */
export interface CacheStatus {
  /** `deployments.apps`. */
  resource: string;
  synced: boolean;
  /** How many objects it holds. */
  objects: number;
  status: InformerStatus;
}

export interface CacheOptions {
  clock: Clock;
  random: () => number;
  logger: Logger;
  /** What equal parts of objects are shared by. Without one, objects of this cache share among themselves. */
  subtrees?: SubtreePool | undefined;
  /** Called when an informer lists all objects of a resource, and why. */
  onList?: ((resource: string, reason: string) => void) | undefined;
  /** Called when an informer that has had no answer yet, or none the last time, has one; `status` says so after that. */
  onAnswer?: (() => void) | undefined;
}

/** What a controller needs of a cache beyond {@link Cache}. */
export class InformerCache implements Cache {
  readonly #options: CacheOptions;
  readonly #subtrees: SubtreePool;
  readonly #informers = new Map<string, SharedInformer<KubeObject>[]>();
  readonly #stopping = new Set<Promise<void>>();
  /** For all who wait for the server. */
  readonly knocker: Knocker;
  #client: Client;
  /** Whether the server of now sends lists over watches, once that was asked. */
  #sendsStreams: Promise<boolean> | undefined;
  #replaced = new AbortController();
  #restored = new AbortController();
  #state: 'new' | 'started' | 'stopped' = 'new';

  constructor(client: Client, options: CacheOptions) {
    this.#client = client;
    this.#options = options;
    this.#subtrees = options.subtrees ?? new SubtreePool();
    this.knocker = new Knocker({ ...options, client: () => this.#client });
  }

  informer<T extends KubeObject>(type: ResourceType<T>, options: InformerOptions<T> = {}): Informer<T> {
    if (this.#state === 'stopped') throw new Error(`${formatGroupResource(type)}: the cache was stopped`);
    const present = this.#of(type).find((informer) => isSame(informer.options, options));
    if (present) return present.hold();
    const informer: SharedInformer<T> = new SharedInformer<T>({
      ...this.#options,
      ...options,
      subtrees: this.#subtrees,
      type,
      source: (): WatchSource<T> => ({
        client: this.#client.resource(type),
        replaced: this.#replaced.signal,
        answersAgain: (signal) => this.knocker.answersAgain(signal),
        restored: this.#restored.signal,
        foundRestored: () => this.#listAnew(),
        sendsStreams: (signal) => unlessAborted(this.#askStreams(), signal),
        foundNoStreams: () => {
          this.#sendsStreams = Promise.resolve(false);
        },
      }),
      onUnused: () => this.#drop(informer),
    });
    const key = keyOf(type);
    this.#informers.set(key, [...this.#of(type), informer] as unknown as SharedInformer<KubeObject>[]);
    if (this.#state === 'started') informer.start();
    return informer.hold();
  }

  get<T extends KubeObject>(type: ResourceType<T>, { namespace, name }: ObjectRef): T | undefined {
    return this.#covering(type, { namespace, name }).store.get(namespace ? `${namespace}/${name}` : name);
  }

  list<T extends KubeObject>(type: ResourceType<T>, { namespace }: { namespace?: string | undefined } = {}): T[] {
    const informer = this.#covering(type, { namespace });
    const objects = informer.store.list();
    const all = namespace === undefined || informer.options.namespace === namespace;
    return all ? objects : objects.filter(({ metadata }) => metadata?.namespace === namespace);
  }

  status(): CacheStatus[] {
    return this.#all().map((informer) => ({
      resource: formatGroupResource(informer.type),
      synced: informer.hasSynced,
      objects: informer.store.size,
      status: informer.status,
    }));
  }

  start(signal: AbortSignal): void {
    if (this.#state !== 'new') return;
    this.#state = 'started';
    for (const informer of this.#all()) informer.start();
    signal.addEventListener('abort', () => void this.stop(), { once: true });
  }

  /** Ends all watches and empties the stores. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    const all = this.#all();
    this.#informers.clear();
    await Promise.all([...this.#stopping, ...all.map((informer) => informer.stop())]);
  }

  /** Aborts when the client of now is replaced. */
  get replaced(): AbortSignal {
    return this.#replaced.signal;
  }

  /** Stores are kept; watches go on with the new client from where they are. */
  replaceClient(client: Client): void {
    this.#client = client;
    this.#sendsStreams = undefined;
    const before = this.#replaced;
    this.#replaced = new AbortController();
    before.abort(new Error('the client was replaced'));
  }

  /** By its version: before 1.27 it would open a watch, and never end the list. True where it does not say. */
  #askStreams(): Promise<boolean> {
    this.#sendsStreams ??= this.#client.version().then(
      ({ major, minor }) => !(major === '1' && Number.parseInt(minor) < 27),
      () => {
        this.#sendsStreams = undefined;
        return true;
      },
    );
    return this.#sendsStreams;
  }

  /** Resolves when what was written has been seen by all who watch the object. */
  async reached(written: WrittenVersion, signal: AbortSignal): Promise<void> {
    const watching = this.#of(written.type).filter(({ hasSynced, store, options }) => {
      return hasSynced && (store.get(written.key) !== undefined || selects(options, written));
    });
    await Promise.all(watching.map((informer) => informer.reached(written.resourceVersion, signal)));
  }

  /** All of a server is restored at once. */
  #listAnew(): void {
    const before = this.#restored;
    this.#restored = new AbortController();
    before.abort(new Error('the server was restored from a backup'));
    this.#options.logger.warn({}, 'the server has not come as far as what was seen of it: everything is listed anew');
  }

  #of<T extends KubeObject>(type: ResourceType<T>): SharedInformer<T>[] {
    return (this.#informers.get(keyOf(type)) ?? []) as unknown as SharedInformer<T>[];
  }

  #all(): SharedInformer<KubeObject>[] {
    return [...this.#informers.values()].flat();
  }

  #covering<T extends KubeObject>(type: ResourceType<T>, { namespace, name }: Asked): SharedInformer<T> {
    const all = this.#of(type);
    const unselected = all.filter(({ options }) => isWhole(options));
    const found =
      unselected.find(({ options }) => !options.namespace) ??
      unselected.find(({ options }) => namespace !== undefined && options.namespace === namespace) ??
      all.find(
        ({ options }) => name !== undefined && isOfName(options, name) && covers(options.namespace, namespace),
      ) ??
      (all.length === 1 && covers(all[0]?.options.namespace, namespace) ? all[0] : undefined);
    const resource = formatGroupResource(type);
    if (!found) {
      const where = namespace ? ` in namespace "${namespace}"` : '';
      const why = all.length === 0 ? 'has no informer' : 'has no informer that covers this read';
      throw new Error(
        `${resource}${where} ${why}: ask for one with cache.informer(), or watch the kind in the controller`,
      );
    }
    if (!found.hasSynced) {
      const { code, message } = found.status;
      const why = code === undefined ? '' : ` (${code}: ${message})`;
      throw new Error(`the informer of ${resource} is not synced yet${why}: wait for synced()`);
    }
    return found;
  }

  #drop<T extends KubeObject>(informer: SharedInformer<T>): void {
    const left = this.#of(informer.type).filter((other) => other !== informer);
    const key = keyOf(informer.type);
    if (left.length === 0) this.#informers.delete(key);
    else this.#informers.set(key, left as unknown as SharedInformer<KubeObject>[]);
    const stopping = informer.stop().finally(() => this.#stopping.delete(stopping));
    this.#stopping.add(stopping);
  }
}

function keyOf({ group, version, resource }: ResourceType): string {
  return `${group}/${version}/${resource}`;
}

/** Whether an object that was written belongs to an informer that may not have it yet. Fields are not looked at: then no. */
function selects(
  { namespace, labelSelector, fieldSelector }: InformerOptions,
  { key, labels }: WrittenVersion,
): boolean {
  if (fieldSelector || (namespace && splitKey(key).namespace !== namespace)) return false;
  return !labelSelector || matchesLabels(parseLabelSelector(labelSelector), labels);
}

/** What is read: an object, or without a name all in a namespace, or everywhere. */
interface Asked {
  namespace: string | undefined;
  name?: string;
}

function covers(own: string | undefined, asked: string | undefined): boolean {
  return !own || own === asked;
}

/** It has every object of this name. */
function isOfName<T extends KubeObject>({ labelSelector, fieldSelector }: InformerOptions<T>, name: string): boolean {
  return !labelSelector && fieldSelector === `metadata.name=${name}`;
}

/** It has all of every object. */
function isWhole<T extends KubeObject>(options: InformerOptions<T>): boolean {
  const { labelSelector, fieldSelector, transform, metadataOnly, fields } = options;
  return !labelSelector && !fieldSelector && !transform && !metadataOnly && !fields;
}

function isSame<T extends KubeObject>(a: InformerOptions<T>, b: InformerOptions<T>): boolean {
  return (
    (a.namespace ?? '') === (b.namespace ?? '') &&
    (a.labelSelector ?? '') === (b.labelSelector ?? '') &&
    (a.fieldSelector ?? '') === (b.fieldSelector ?? '') &&
    (a.metadataOnly ?? false) === (b.metadataOnly ?? false) &&
    a.fields?.join() === b.fields?.join() &&
    a.transform === b.transform
  );
}

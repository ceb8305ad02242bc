import { failure, type KubeObject, type Status } from '@asterism/machinery';
import { CustomResources } from '../crd/custom-resources.ts';
import { ObjectStore } from '../storage/object-store.ts';
import type { Storage } from '../storage/storage.ts';
import { StoredObject } from '../storage/stored-object.ts';
import { builtinResources } from './builtin-resources.ts';
import { Catalogue } from './catalogue.ts';
import { legacyResources } from './legacy-resources.ts';
import { ObjectDeleter } from './object-deleter.ts';
import { ObjectReader } from './object-reader.ts';
import { ObjectWriter } from './object-writer.ts';
import { PodActions } from './pod-actions.ts';
import type {
  AdmissionStep,
  Deleted,
  DeleteOptions,
  GetOptions,
  ListOptions,
  ObjectRef,
  ObservedChange,
  Patch,
  Registry,
  Selection,
  ServedResource,
  Stored,
  StoredList,
  WatchOptions,
  WatchStream,
  WriteContext,
  Written,
} from './registry.ts';
import { ScaleWriter, storedScale } from './scale-writer.ts';
import { ServedVersion } from './served-version.ts';
import { createServiceAllocator } from './strategies/service-allocator.ts';
import { WritePipeline } from './write-pipeline.ts';

export interface RegistryOptions {
  /** Closed with the registry. */
  storage: Storage;
  /** Milliseconds since 1970. */
  clock?: () => number;
  /** In [0, 1). */
  random?: () => number;
  /** Steps between authorization and storage, asked in order. The list may grow while the registry runs. */
  admission?: readonly AdmissionStep[];
  /** How often watchers get a bookmark. Default 60 s, as upstream. */
  bookmarkMilliseconds?: number;
  /** How many events may wait for one watcher before its stream ends. Default 4,096. */
  watchQueueLimit?: number;
  /** From which Services get their cluster addresses: IPv4 in CIDR form. Default `10.96.0.0/16`. */
  serviceAddressRange?: string;
  /** Told of what went wrong behind the requests; nothing stops by it. */
  onError?: (error: unknown) => void;
}

/** Opens the storage and serves what is in it. Rejects with a `StorageError` as {@link Storage.open} does. */
export async function createRegistry(options: RegistryOptions): Promise<Registry> {
  const { clock = Date.now, random = Math.random } = options;
  const store = new ObjectStore({ storage: options.storage, clock });
  await store.open();
  const range = options.serviceAddressRange ?? '10.96.0.0/16';
  const services = createServiceAllocator({ store, range, random, clock });
  const catalogue = new Catalogue(builtinResources(services), legacyResources(services));
  return new StoreRegistry(store, catalogue, { ...options, clock, random });
}

class StoreRegistry implements Registry {
  readonly #store: ObjectStore;
  readonly #catalogue: Catalogue;
  readonly #reader: ObjectReader;
  readonly #writer: ObjectWriter;
  readonly #deleter: ObjectDeleter;
  readonly #scales: ScaleWriter;
  readonly #pods: PodActions;
  readonly #custom: CustomResources;

  constructor(
    store: ObjectStore,
    catalogue: Catalogue,
    options: RegistryOptions & { clock: () => number; random: () => number },
  ) {
    this.#store = store;
    this.#catalogue = catalogue;
    const pipeline = new WritePipeline({
      store,
      clock: options.clock,
      random: options.random,
      admission: options.admission ?? [],
    });
    this.#reader = new ObjectReader({
      store,
      bookmarkMilliseconds: options.bookmarkMilliseconds ?? 60_000,
      watchQueueLimit: options.watchQueueLimit ?? 4096,
    });
    this.#writer = new ObjectWriter(pipeline);
    this.#deleter = new ObjectDeleter(pipeline, this.#reader);
    this.#scales = new ScaleWriter(this.#writer, options.clock);
    this.#pods = new PodActions({
      pods: catalogue.require('', 'v1', 'pods'),
      budgets: catalogue.require('policy', 'v1', 'poddisruptionbudgets'),
      store,
      writer: this.#writer,
      deleter: this.#deleter,
    });
    this.#custom = new CustomResources({
      store,
      catalogue,
      reader: this.#reader,
      writer: this.#writer,
      deleter: this.#deleter,
      onError: options.onError ?? (() => {}),
    });
  }

  get resourceVersion(): string {
    return String(this.#store.revision);
  }

  served(): readonly ServedResource[] {
    return this.#catalogue.served();
  }

  legacy(): readonly ServedResource[] {
    return this.#catalogue.legacy();
  }

  find(group: string, version: string, resource: string): ServedResource | undefined {
    return this.#catalogue.find(group, version, resource);
  }

  onChange(listener: () => void): () => void {
    return this.#catalogue.onChange(listener);
  }

  observe(listener: (change: ObservedChange) => void): () => void {
    return this.#store.subscribeAll((groupResource, { type, key, namespace, object }) => {
      const resource = this.#catalogue.findStored(groupResource);
      if (!resource) return;
      const name = namespace === '' ? key : key.slice(namespace.length + 1);
      listener({
        resource,
        type,
        namespace: namespace || undefined,
        name,
        // Most listeners look at few objects, and showing a custom resource is work.
        get stored() {
          return resource.view(object);
        },
      });
    });
  }

  async get(resource: ServedResource, ref: ObjectRef, options?: GetOptions): Promise<Stored> {
    const version = this.#versionOf(resource);
    const stored = await this.#reader.get(version, ref, options);
    return options?.subresource === 'scale' ? storedScale(version, stored) : stored;
  }

  async list(resource: ServedResource, options?: ListOptions): Promise<StoredList> {
    return this.#reader.list(this.#versionOf(resource), options);
  }

  async watch(resource: ServedResource, options: WatchOptions): Promise<WatchStream> {
    return this.#reader.watch(this.#versionOf(resource), options);
  }

  async create(resource: ServedResource, object: KubeObject, context: WriteContext): Promise<Stored> {
    const version = this.#versionOf(resource);
    const place = context.subresource ? `${version.groupResource}/${context.subresource}` : version.groupResource;
    switch (place) {
      case 'bindings':
      case 'pods/binding':
        return storedStatus(await this.#pods.bind(object, context));
      case 'pods/eviction':
        return storedStatus(await this.#pods.evict(object, context));
      default:
        if (context.subresource) throw failure(405, METHOD_NOT_ALLOWED);
        return this.#writer.create(version, object, context);
    }
  }

  async update(resource: ServedResource, ref: ObjectRef, object: KubeObject, context: WriteContext): Promise<Written> {
    const version = this.#versionOf(resource);
    if (context.subresource === 'scale') return this.#scales.update(version, ref, object, context);
    return this.#writer.update(version, ref, object, context);
  }

  async patch(resource: ServedResource, ref: ObjectRef, patch: Patch, context: WriteContext): Promise<Written> {
    const version = this.#versionOf(resource);
    if (context.subresource === 'scale') return this.#scales.patch(version, ref, patch, context);
    return this.#writer.patch(version, ref, patch, context);
  }

  async delete(
    resource: ServedResource,
    ref: ObjectRef,
    options: DeleteOptions,
    context: WriteContext,
  ): Promise<Deleted> {
    return this.#deleter.delete(this.#versionOf(resource), ref, options, context);
  }

  async deleteCollection(
    resource: ServedResource,
    selection: Selection,
    options: DeleteOptions,
    context: WriteContext,
  ): Promise<StoredList> {
    return this.#deleter.deleteCollection(this.#versionOf(resource), selection, options, context);
  }

  settled(): Promise<void> {
    return this.#store.settled();
  }

  async close(): Promise<void> {
    this.#reader.close();
    await this.#custom.close();
    await this.#store.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** What is served now: the definition may have changed, or gone, while the body of a request was on its way. */
  #versionOf(resource: ServedResource): ServedVersion {
    if (!(resource instanceof ServedVersion)) {
      throw new TypeError(`${resource.type.resource} does not come from this registry: ask find() or served() for it`);
    }
    if (resource.storage === 'builtin') return resource;
    const { group, version, resource: plural } = resource.type;
    const served = this.#catalogue.find(group, version, plural);
    if (served === undefined) throw failure(404, 'the server could not find the requested resource', { details: {} });
    return served;
  }
}

const METHOD_NOT_ALLOWED = 'the server does not allow this method on the requested resource';

/** A Status in the form in which objects are answered. */
function storedStatus(status: Status): StoredObject {
  return new StoredObject(Buffer.from(JSON.stringify(status)), 0);
}

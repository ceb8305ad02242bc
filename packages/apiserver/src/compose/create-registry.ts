import { wallNow } from '@asterism/client';
import { failure, type KubeObject, type Status } from '@asterism/machinery';
import { createAdmissionPlugins } from '../admission-plugins/create-admission-plugins.ts';
import { type AdmissionPluginChoice, isPluginEnabled } from '../admission-plugins/plugin-names.ts';
import { QuotaGate } from '../admission-plugins/quota/quota-gate.ts';
import { internalError } from '../webhooks/webhook-failure.ts';
import { WebhookGate, type WebhookGateOptions } from '../webhooks/webhook-gate.ts';
import { CustomResources } from '../crd/custom-resources.ts';
import { customResourceDefinitionKind } from '../crd/kind.ts';
import { builtinKinds } from '../kinds/builtin-kinds.ts';
import { ObjectStore, type StorageState } from '../storage/object-store.ts';
import type { CacheEvent } from '../storage/resource-cache.ts';
import type { Storage } from '../storage/storage.ts';
import { StoredObject } from '../storage/stored-object.ts';
import { AdmissionPipeline } from '../registry/admission-pipeline.ts';
import { builtinResources } from './builtin-resources.ts';
import { Catalogue } from '../registry/catalogue.ts';
import { WriteCommitter } from '../registry/commit-write.ts';
import { decodeObject, requireSameKind } from '../registry/decode-object.ts';
import { defaultObject } from '../registry/default-object.ts';
import { legacyResources } from './legacy-resources.ts';
import { ObjectDeleter } from '../registry/object-deleter.ts';
import { ObjectReader } from '../registry/object-reader.ts';
import { ObjectCreator } from '../registry/object-creator.ts';
import { ObjectValidator } from '../registry/object-validator.ts';
import { ObjectWriter } from '../registry/object-writer.ts';
import { PodActions } from '../registry/pod-actions.ts';
import type {
  Deleted,
  GetOptions,
  ListOptions,
  ObjectRef,
  ObservedChange,
  Patch,
  Registry,
  Selection,
  StoredList,
  UnstoredSubject,
  WatchOptions,
  WatchStream,
  WriteContext,
  Written,
} from '../registry/registry.ts';
import type { Stored } from '../contract/stored.ts';
import { ScaleWriter, storedScale } from '../registry/scale-writer.ts';
import { ServedVersion } from '../registry/served-version.ts';
import { createServiceAllocator } from '../kinds/service/service-allocator.ts';
import { WritePipeline } from '../registry/write-pipeline.ts';
import type { AdmissionStep } from '../contract/admission-step.ts';
import type { DeleteOptions } from '../contract/delete-options.ts';
import type { ServedResource } from '../contract/served-resource.ts';
import { WriteRequest } from '../registry/write.ts';

export interface RegistryOptions {
  /** Closed with the registry. */
  storage: Storage;
  /** Milliseconds since 1970. */
  clock?: () => number;
  /** In [0, 1). */
  random?: () => number;
  /** Steps between authorization and storage, asked in order. The list may grow while the registry runs. */
  admission?: readonly AdmissionStep[];
  /** Which of Kubernetes' own admission plugins run. Default: those that do upstream. */
  admissionPlugins?: AdmissionPluginChoice | undefined;
  /** How often watchers get a bookmark. Default 60 s, as upstream. */
  bookmarkMilliseconds?: number;
  /** How many events may wait for one watcher before its stream ends. Default 4,096. */
  watchQueueLimit?: number;
  /** From which Services get their cluster addresses: IPv4 in CIDR form. Default `10.96.0.0/16`. */
  serviceAddressRange?: string;
  /** What admission webhooks need besides the registry: who may do what, where Services are, who counts. */
  webhooks?:
    | Partial<Pick<WebhookGateOptions, 'authorizer' | 'isStarting' | 'resolve' | 'metrics' | 'onIgnored'>>
    | undefined;
  /** Told of what went wrong behind the requests; nothing stops by it. */
  onError?: (error: unknown) => void;
}

/** From which Services get their addresses where nobody says. */
export const DEFAULT_SERVICE_RANGE = '10.96.0.0/16';

/** Opens the storage and serves what is in it. Rejects with a `StorageError` as {@link Storage.open} does. */
export async function createRegistry(options: RegistryOptions): Promise<Registry> {
  const { clock = wallNow, random = Math.random } = options;
  const store = new ObjectStore({ storage: options.storage, clock });
  await store.open();
  const range = options.serviceAddressRange ?? DEFAULT_SERVICE_RANGE;
  const services = createServiceAllocator({ store, range, random, clock });
  const kinds = [...builtinKinds(services), customResourceDefinitionKind];
  const catalogue = new Catalogue(builtinResources(kinds), legacyResources(kinds));
  return new StoreRegistry(store, catalogue, { ...options, clock, random });
}

/** One for all who observe. */
class StoredChange implements ObservedChange {
  readonly resource: ServedVersion;
  readonly type: 'put' | 'delete';
  readonly namespace: string | undefined;
  readonly name: string;
  readonly #object: StoredObject;

  constructor(resource: ServedVersion, { type, key, namespace, object }: CacheEvent) {
    this.resource = resource;
    this.type = type;
    this.namespace = namespace || undefined;
    this.name = namespace === '' ? key : key.slice(namespace.length + 1);
    this.#object = object;
  }

  /** Most listeners look at few objects, and showing a custom resource is work. */
  get stored(): Stored {
    return this.resource.view(this.#object);
  }
}

class StoreRegistry implements Registry {
  readonly #store: ObjectStore;
  readonly #catalogue: Catalogue;
  readonly #reader: ObjectReader;
  readonly #creator: ObjectCreator;
  readonly #writer: ObjectWriter;
  readonly #deleter: ObjectDeleter;
  readonly #scales: ScaleWriter;
  readonly #pods: PodActions;
  readonly #custom: CustomResources;
  readonly #webhooks: WebhookGate;
  readonly #admission: AdmissionPipeline;
  readonly #observers = new Set<(change: ObservedChange) => void>();

  constructor(
    store: ObjectStore,
    catalogue: Catalogue,
    options: RegistryOptions & { clock: () => number; random: () => number },
  ) {
    this.#store = store;
    this.#catalogue = catalogue;
    this.#webhooks = new WebhookGate({
      plugins: options.admissionPlugins,
      store,
      catalogue,
      authorizer: () => undefined,
      ...options.webhooks,
      settle: (resource, object, kind) => this.#settle(resource as ServedVersion, object, kind),
    });
    const { clock, random } = options;
    this.#admission = new AdmissionPipeline({
      plugins: createAdmissionPlugins({ store, random }, options.admissionPlugins),
      admission: options.admission ?? [],
      webhooks: this.#webhooks,
    });
    const pipeline = new WritePipeline({
      clock,
      random,
      admission: this.#admission,
      validator: new ObjectValidator(store),
    });
    const committer = new WriteCommitter(store, quotaGate(store, catalogue, options));
    store.subscribeAll((groupResource, event) => {
      const resource = this.#observers.size === 0 ? undefined : catalogue.findStored(groupResource);
      if (!resource) return;
      const change = new StoredChange(resource, event);
      for (const listener of this.#observers) listener(change);
    });
    this.#reader = new ObjectReader({
      store,
      bookmarkMilliseconds: options.bookmarkMilliseconds ?? 60_000,
      watchQueueLimit: options.watchQueueLimit ?? 4096,
    });
    this.#creator = new ObjectCreator({ store, pipeline, committer, random });
    this.#writer = new ObjectWriter({ store, pipeline, committer, creator: this.#creator, clock });
    this.#deleter = new ObjectDeleter({ store, pipeline, committer, reader: this.#reader, clock });
    this.#scales = new ScaleWriter(this.#writer, clock);
    this.#pods = new PodActions({
      pods: catalogue.require('', 'v1', 'pods'),
      budgets: catalogue.require('policy', 'v1', 'poddisruptionbudgets'),
      store,
      writer: this.#writer,
      deleter: this.#deleter,
      admission: this.#admission,
      clock,
    });
    this.#custom = new CustomResources({
      store,
      catalogue,
      reader: this.#reader,
      writer: this.#writer,
      deleter: this.#deleter,
      clock,
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
    this.#observers.add(listener);
    return () => this.#observers.delete(listener);
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
    const ref = { namespace: context.namespace, name: context.name ?? '' };
    const request = this.#request(resource, ref, context);
    const { groupResource } = request.resource;
    const place = context.subresource ? `${groupResource}/${context.subresource}` : groupResource;
    switch (place) {
      case 'bindings':
      case 'pods/binding':
        return storedStatus(await this.#pods.bind(object, context));
      case 'pods/eviction':
        return storedStatus(await this.#pods.evict(object, context));
      default:
        if (context.subresource) throw failure(405, METHOD_NOT_ALLOWED);
        return this.#creator.create(request, object);
    }
  }

  async update(resource: ServedResource, ref: ObjectRef, object: KubeObject, context: WriteContext): Promise<Written> {
    const request = this.#request(resource, ref, context);
    return context.subresource === 'scale'
      ? this.#scales.update(request, object)
      : this.#writer.update(request, object);
  }

  async patch(resource: ServedResource, ref: ObjectRef, patch: Patch, context: WriteContext): Promise<Written> {
    const request = this.#request(resource, ref, context);
    return context.subresource === 'scale' ? this.#scales.patch(request, patch) : this.#writer.patch(request, patch);
  }

  async delete(
    resource: ServedResource,
    ref: ObjectRef,
    options: DeleteOptions,
    context: WriteContext,
  ): Promise<Deleted> {
    return this.#deleter.delete(this.#request(resource, ref, context), options);
  }

  async deleteCollection(
    resource: ServedResource,
    selection: Selection,
    options: DeleteOptions,
    context: WriteContext,
  ): Promise<StoredList> {
    const ref = { namespace: selection.namespace, name: '' };
    return this.#deleter.deleteCollection(this.#request(resource, ref, context), selection, options);
  }

  async admitUnstored(resource: ServedResource, subject: UnstoredSubject, context: WriteContext): Promise<KubeObject> {
    const { name = subject.object.metadata?.name ?? '', namespace } = context;
    return await this.#admission.admitUnstored(this.#request(resource, { name, namespace }, context), subject);
  }

  get storage(): StorageState {
    return this.#store.state;
  }

  settled(): Promise<void> {
    return this.#store.settled();
  }

  async close(): Promise<void> {
    this.#webhooks.close();
    this.#reader.close();
    await this.#custom.close();
    await this.#store.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** What a webhook made of an object, decoded as a body is, with its defaults. What is no object of the resource stays as it is. */
  #settle(resource: ServedVersion, object: KubeObject, { kind }: { kind: string }): KubeObject {
    if (kind !== resource.type.kind) return object;
    requireSameKind(resource, object);
    const draft = decodeObject(resource, object, { fieldValidation: 'Ignore', fail: internalError });
    defaultObject(resource, draft);
    return draft;
  }

  #request(resource: ServedResource, ref: ObjectRef, context: WriteContext): WriteRequest {
    return new WriteRequest(this.#versionOf(resource), ref, context);
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

function quotaGate(
  store: ObjectStore,
  catalogue: Catalogue,
  { clock, admissionPlugins }: Pick<RegistryOptions, 'admissionPlugins'> & { clock: () => number },
): QuotaGate | undefined {
  if (!isPluginEnabled(admissionPlugins, 'ResourceQuota')) return undefined;
  return new QuotaGate({ store, quotas: catalogue.require('', 'v1', 'resourcequotas'), clock });
}

const METHOD_NOT_ALLOWED = 'the server does not allow this method on the requested resource';

/** A Status in the form in which objects are answered. */
function storedStatus(status: Status): StoredObject {
  return new StoredObject(Buffer.from(JSON.stringify(status)), 0);
}

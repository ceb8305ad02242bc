import {
  formatApiVersion,
  formatGroupResource,
  type KubeList,
  type KubeObject,
  type ResourceType,
  resourcePath,
  type Status,
  type WatchEvent,
} from '@asterism/machinery';
import { listBytes, noteListBytes } from './bounded/list-bytes.ts';
import { ListProgress } from './bounded/list-progress.ts';
import { isTooLarge, ReadLimitError } from './bounded/read-limit-error.ts';
import type { ListLimits } from './bounded/read-limits.ts';
import { ClientError } from './client-error.ts';
import { cutManagedFields } from './cut-managed-fields.ts';
import { LineStream } from './line-stream.ts';
import { readEvent } from './read-event.ts';
import { readList } from './read-list.ts';
import { decodeAnswer, notJson, type Requester } from './requester.ts';
import type {
  ApplyOptions,
  CreateOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  EventStream,
  GetOptions,
  ListOptions,
  ObjectRef,
  Patch,
  PatchKind,
  PatchOptions,
  ResourceClient,
  UpdateOptions,
  WatchOptions,
  WriteOptions,
} from './resource-client.ts';
import type { ReadObjectOptions, SubtreePool } from './subtree-pool.ts';
import type { TransportRequest } from './transport.ts';

const PAGE = 500;
/** A page that is too large is asked for again with so many times fewer objects. */
const SHRINK = 8;

const NOT_PRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/;

/** Server-side apply takes YAML, of which JSON is a part. */
const PATCH_CONTENT_TYPES: Record<PatchKind, string> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

/** A server that cannot send metadata alone sends all. */
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';
const METADATA_LIST = METADATA.replace('Metadata;', 'MetadataList;');

/** {@link ResourceClient} over HTTP. */
export class HttpResourceClient<T extends KubeObject> implements ResourceClient<T> {
  readonly type: ResourceType<T>;
  readonly #requester: Requester;
  readonly #fieldManager: string | undefined;

  constructor(type: ResourceType<T>, requester: Requester, fieldManager: string | undefined) {
    this.type = type;
    this.#requester = requester;
    this.#fieldManager = fieldManager;
  }

  async get(ref: ObjectRef, options: GetOptions = {}): Promise<T> {
    const { subresource, resourceVersion, signal } = options;
    const path = this.#objectPath(ref, subresource) + query({ resourceVersion });
    return (await this.#requester.json({ method: 'GET', path, signal })) as T;
  }

  async list(options: ListOptions = {}): Promise<KubeList<T>> {
    const { namespace, signal, cutManagedFields: cut, subtrees, metadataOnly, ...parameters } = options;
    const path = this.#collectionPath(namespace) + query(parameters);
    const accept = metadataOnly ? METADATA_LIST : 'application/json';
    const request: TransportRequest = { method: 'GET', path, headers: { accept }, signal };
    if (subtrees) {
      const turn = subtrees.turns.next();
      if (turn) await turn;
      const response = await this.#requester.ok(request);
      using seat = await subtrees.seats.take();
      return await this.#requester.take(response, { use: 'list', signal }, async (bytes) => {
        seat.keep();
        this.#checkValues(bytes, 'list');
        const list = await readList(bytes, subtrees, this.#reading(metadataOnly)).catch((error: unknown) => {
          throw error instanceof ReadLimitError ? error : notJson(bytes, request);
        });
        noteListBytes(list, bytes.length);
        return list as KubeList<T>;
      });
    }
    let length = 0;
    const prepare = (bytes: Uint8Array): Uint8Array => {
      length = bytes.length;
      return cut ? cutManagedFields(bytes, 'list') : bytes;
    };
    const list = (await this.#requester.json(request, { use: 'list', prepare })) as KubeList<T>;
    noteListBytes(list, length);
    const apiVersion = formatApiVersion(this.type);
    list.items ??= []; // Go writes an empty list as null
    if (metadataOnly) list.items = list.items.map((item) => this.#metadataOf(item));
    for (const item of list.items) {
      item.apiVersion ??= apiVersion;
      item.kind ??= this.type.kind;
    }
    return list;
  }

  async *pages(options: ListOptions = {}): AsyncGenerator<KubeList<T>> {
    let next = options.continue;
    let { limit = PAGE } = options;
    const progress = new ListProgress(this.#requester.server, this.#requester.listLimits);
    for (;;) {
      // The first page's resourceVersion is in the token; the server refuses both together.
      const resume = next ? { continue: next, resourceVersion: undefined, resourceVersionMatch: undefined } : {};
      let page: KubeList<T>;
      try {
        page = await this.list(Object.assign({ limit }, options, { limit }, resume));
      } catch (error) {
        if (!isTooLarge(error) || limit <= 1) throw error;
        limit = Math.max(1, Math.floor(limit / SHRINK));
        continue;
      }
      next = page.metadata?.continue;
      progress.add({ objects: page.items.length, bytes: listBytes(page), continue: next });
      yield page;
      if (!next) return;
    }
  }

  get listLimits(): ListLimits {
    return this.#requester.listLimits;
  }

  watch(options: WatchOptions = {}): EventStream<WatchEvent<T>> {
    const { signal, cutManagedFields: cut, subtrees, metadataOnly, onOpen } = options;
    const reading = this.#reading(metadataOnly);
    let request: TransportRequest;
    let isListing = false;
    const turn = (): Promise<void> | undefined => (isListing ? subtrees?.turns.next() : undefined);
    return new LineStream({
      server: this.#requester.server,
      signal,
      limits: this.#requester.limitsFor('line'),
      budget: this.#requester.budget,
      open: async () => {
        isListing = options.sendInitialEvents ?? false;
        const wait = turn();
        if (wait) await wait;
        request = this.#watchRequest(options);
        const { body } = await this.#requester.ok(request);
        onOpen?.();
        return body;
      },
      turn,
      read: (line) => {
        if (subtrees) {
          const event = this.#event(line, subtrees, reading, request);
          if (event.type === 'BOOKMARK') isListing = false;
          return event;
        }
        const bytes = cut ? cutManagedFields(line, 'event') : line;
        this.#requester.check(bytes, 'line');
        const event = decodeAnswer(bytes, request) as WatchEvent<T>;
        const isObject = event.type !== 'ERROR' && event.type !== 'BOOKMARK';
        if (event.type === 'BOOKMARK') isListing = false;
        return metadataOnly && isObject ? { ...event, object: this.#metadataOf(event.object) } : event;
      },
    });
  }

  async create(object: T, options: CreateOptions = {}): Promise<T> {
    const { subresource, name, namespace = object.metadata?.namespace } = options;
    if ((subresource === undefined) !== (name === undefined)) {
      throw this.#refuse('create', 'a subresource needs the name of its object, and a name is for a subresource alone');
    }
    const path =
      name === undefined
        ? this.#collectionPath(namespace, 'create')
        : this.#objectPath({ namespace, name }, subresource);
    return this.#write('POST', path, this.#identified(object, subresource), options);
  }

  async update(object: T, options: UpdateOptions = {}): Promise<T> {
    const { subresource } = options;
    const path = this.#objectPath(refOf(object), subresource);
    return this.#write('PUT', path, this.#identified(object, subresource), options);
  }

  async patch(ref: ObjectRef, patch: Patch, options: PatchOptions = {}): Promise<T> {
    const path = this.#objectPath(ref, options.subresource);
    const force = patch.type === 'apply' ? options.force : undefined;
    if (patch.type === 'apply' && !(options.fieldManager ?? this.#fieldManager)) {
      throw this.#refuse('apply', 'it needs a fieldManager');
    }
    return this.#write('PATCH', path, patch.body, options, { contentType: PATCH_CONTENT_TYPES[patch.type], force });
  }

  apply(object: T, options: ApplyOptions): Promise<T> {
    const body = this.#identified(object, options.subresource);
    return this.patch(refOf(object), { type: 'apply', body }, options);
  }

  async delete(ref: ObjectRef, options: DeleteOptions = {}): Promise<T | Status> {
    return (await this.#requester.json(this.#deletion(this.#objectPath(ref), options))) as T | Status;
  }

  async deleteCollection(options: DeleteCollectionOptions = {}): Promise<KubeList<T> | Status> {
    const { namespace, labelSelector, fieldSelector } = options;
    const path = this.#collectionPath(namespace, 'delete all of') + query({ labelSelector, fieldSelector });
    return (await this.#requester.json(this.#deletion(path, options))) as KubeList<T> | Status;
  }

  async #write(
    method: string,
    path: string,
    body: unknown,
    options: WriteOptions,
    { contentType = 'application/json', force }: { contentType?: string; force?: boolean | undefined } = {},
  ): Promise<T> {
    const { dryRun, fieldManager = this.#fieldManager, fieldValidation, signal } = options;
    const parameters = query({ dryRun: dryRun ? 'All' : undefined, fieldManager, fieldValidation, force });
    return (await this.#requester.json({
      method,
      path: path + parameters,
      headers: { 'content-type': contentType },
      body: contentType === PATCH_CONTENT_TYPES.apply ? yamlOf(body) : JSON.stringify(body),
      signal,
    })) as T;
  }

  /**
   * With what it says of itself, or else what the type does: a server needs it of custom resources and applied configurations. What
   * is sent to a subresource may be of another kind, but for the status.
   */
  #identified(object: T, subresource: string | undefined): T {
    if (subresource !== undefined && subresource !== 'status') return object;
    const { apiVersion = formatApiVersion(this.type), kind = this.type.kind, ...rest } = object;
    return { apiVersion, kind, ...rest } as T;
  }

  #watchRequest(options: WatchOptions): TransportRequest {
    const { namespace, labelSelector, fieldSelector, resourceVersion, timeoutSeconds, metadataOnly, signal } = options;
    const parameters = {
      labelSelector,
      fieldSelector,
      resourceVersion,
      timeoutSeconds,
      watch: true,
      allowWatchBookmarks: (options.allowBookmarks ?? true) || undefined,
      ...(options.sendInitialEvents ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } : {}),
    };
    const path = compact(this.#collectionPath(namespace) + query(parameters));
    const accept = metadataOnly ? METADATA : 'application/json';
    return { method: 'GET', path, headers: { accept }, signal, long: true };
  }

  #event(line: Buffer, subtrees: SubtreePool, reading: ReadObjectOptions, request: TransportRequest): WatchEvent<T> {
    this.#checkValues(line, 'line');
    try {
      return readEvent(line, subtrees, reading) as WatchEvent<T>;
    } catch (error) {
      throw error instanceof ReadLimitError ? error : notJson(line, request);
    }
  }

  /** For bytes whose depth is looked at where they are read. A value takes two bytes. */
  #checkValues(bytes: Uint8Array, use: 'list' | 'line'): void {
    if (bytes.length > 2 * this.#requester.limitsFor(use).maxItems) this.#requester.check(bytes, use);
  }

  #reading(metadataOnly = false): ReadObjectOptions {
    return { identity: { apiVersion: formatApiVersion(this.type), kind: this.type.kind }, metadataOnly };
  }

  /** Also of a server that does not know how to send metadata alone. */
  #metadataOf({ metadata }: T): T {
    return { apiVersion: formatApiVersion(this.type), kind: this.type.kind, metadata } as T;
  }

  #deletion(path: string, options: DeleteOptions): TransportRequest {
    const { propagationPolicy, gracePeriodSeconds, preconditions, dryRun, signal } = options;
    const body = {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      propagationPolicy,
      gracePeriodSeconds,
      preconditions,
      dryRun: dryRun ? ['All'] : undefined,
    };
    const headers = { 'content-type': 'application/json' };
    return { method: 'DELETE', path, headers, body: JSON.stringify(body), signal };
  }

  /** An empty name would address all objects. */
  #objectPath({ namespace, name }: ObjectRef, subresource?: string): string {
    if (!name) throw this.#refuse('address', 'the object has no name');
    return resourcePath(this.type, { namespace: this.#checked(namespace, `"${name}"`), name, subresource });
  }

  /** With `verb`, for a write, which needs the namespace that a list may leave out. */
  #collectionPath(namespace: string | undefined, verb?: string): string {
    return resourcePath(this.type, { namespace: verb ? this.#checked(namespace, verb) : this.#clusterless(namespace) });
  }

  #checked(namespace: string | undefined, what: string): string | undefined {
    if (this.type.namespaced && !namespace) throw this.#refuse(what, 'it lives in a namespace, and none is given');
    return this.#clusterless(namespace);
  }

  #clusterless(namespace: string | undefined): string | undefined {
    if (!this.type.namespaced && namespace) {
      throw this.#refuse(`namespace "${namespace}"`, 'it does not live in namespaces');
    }
    return namespace;
  }

  #refuse(what: string, why: string): ClientError {
    return new ClientError(`${formatGroupResource(this.type)}: ${what}: ${why}`, { code: 'ERR_INVALID_REQUEST' });
  }
}

function refOf({ metadata }: KubeObject): ObjectRef {
  return { namespace: metadata?.namespace, name: metadata?.name ?? '' };
}

function query(parameters: Record<string, string | number | boolean | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') search.set(name, String(value));
  }
  const text = search.toString();
  return text ? `?${text}` : '';
}

/** The same text as one piece: V8 keeps one that was put together as its parts, at several times the memory. */
function compact(text: string): string {
  return Buffer.from(text).toString();
}

/** JSON that YAML readers take too: they refuse a text with a character that they do not count as printable. */
function yamlOf(value: unknown): string {
  const json = JSON.stringify(value);
  if (!NOT_PRINTABLE.test(json)) return json;
  return json.replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

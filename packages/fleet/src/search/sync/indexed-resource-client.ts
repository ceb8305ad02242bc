import { isUtf8 } from 'node:buffer';
import {
  type Client,
  ClientError,
  cutManagedFields,
  checkJson,
  LineStream,
  type ListOptions,
  measureJson,
  noteListBytes,
  READ_LIMITS,
  readBody,
  responseError,
  type TransportRequest,
  type WatchOptions,
} from '@asterism/client';
import {
  type KubeList,
  type KubeObject,
  type ListMeta,
  parseJson,
  resourcePath,
  type ResourceType,
  type Status,
  type WatchEvent,
} from '@asterism/machinery';
import type { WatchableResource } from '@asterism/runtime';
import type { IndexedObject } from './indexed-object.ts';
import { elementsOf, memberOf, type Slice } from './json-slices.ts';

/**
 * Lists and watches one resource so that each object keeps the bytes that it came in, without its managedFields. A list begins
 * at what is newest rather than at what the server has in its cache (`resourceVersion=0`): only that comes in pages.
 */
export function indexedResourceClient(
  client: Client,
  type: ResourceType,
  onSkipped: (skipped: SkippedObject) => void = () => {},
): WatchableResource<IndexedObject> {
  const reader = new DepthGuard(onSkipped);
  const server = client.transport.server ?? 'the server';

  async function open(request: TransportRequest) {
    const response = await client.request({ ...request, headers: { accept: 'application/json' } });
    if (response.status >= 400) throw await responseError(request, response);
    return response.body;
  }

  return {
    type: type as ResourceType<IndexedObject>,

    async list({ namespace, limit, continue: next, resourceVersion, resourceVersionMatch, signal }: ListOptions = {}) {
      const moment = resourceVersion === '0' ? {} : { resourceVersion, resourceVersionMatch };
      const path = resourcePath(type, { namespace }) + query({ limit, continue: next, ...moment });
      const request = { method: 'GET', path, signal };
      const limits = { ...READ_LIMITS.list, maxDepth: DEEPEST };
      const body = await readBody(await open(request), server, { signal, limits, budget: client.readBudget });
      const bytes = cutManagedFields(body, 'list');
      checkJson(bytes, server, limits);
      const { metadata = {}, items } = parse(bytes, request) as { metadata?: ListMeta; items?: KubeObject[] | null };
      const slices = items ? elementsOf(bytes, (memberOf(bytes, 0, 'items') as Slice).start) : [];
      const all = slices.map((slice, index) => indexed(items?.[index], bytes, slice, request));
      const list: KubeList<IndexedObject> = { metadata, items: reader.keep(all, bytes) };
      noteListBytes(list, body.length);
      return list;
    },

    watch({ namespace, resourceVersion, timeoutSeconds, onOpen, signal }: WatchOptions = {}) {
      const parameters = { watch: true, allowWatchBookmarks: true, resourceVersion, timeoutSeconds };
      const path = resourcePath(type, { namespace }) + query(parameters);
      const request = { method: 'GET', path, signal, long: true };
      return new LineStream({
        server,
        signal,
        open: async () => {
          const body = await open(request);
          onOpen?.();
          return body;
        },
        budget: client.readBudget,
        read: (line) => {
          checkJson(line, server, { ...READ_LIMITS.line, maxDepth: DEEPEST });
          return reader.keepEvent(eventOf(line, request));
        },
      });
    },
  };
}

/** No API server takes JSON that is nested deeper. */
const DEEPEST = 20_000;
/** SQLite reads JSON up to this depth. */
const STORED_DEPTH = 1_000;

/** An object that search does not keep, because it is nested too deeply. */
export interface SkippedObject {
  namespace: string;
  name: string;
  maxDepth: number;
}

/** Leaves out objects that the store cannot hold, each of them alone, and reports them. */
class DepthGuard {
  readonly #onSkipped: (skipped: SkippedObject) => void;

  constructor(onSkipped: (skipped: SkippedObject) => void) {
    this.#onSkipped = onSkipped;
  }

  /** `bytes`: all that the objects came in. Mostly nothing in them is too deep, which one look finds out. */
  keep(objects: IndexedObject[], bytes: Uint8Array): IndexedObject[] {
    if (!isTooDeep(bytes)) return objects;
    return objects.filter((object) => {
      const deep = isTooDeep(object.bytes);
      if (deep) this.#report(object);
      return !deep;
    });
  }

  /** An object that became too deep is taken out. */
  keepEvent(event: WatchEvent<IndexedObject>): WatchEvent<IndexedObject> {
    if (event.type !== 'ADDED' && event.type !== 'MODIFIED') return event;
    if (!isTooDeep(event.object.bytes)) return event;
    this.#report(event.object);
    return { type: 'DELETED', object: event.object };
  }

  #report({ metadata: { namespace = '', name = '' } }: IndexedObject): void {
    this.#onSkipped({ namespace, name, maxDepth: STORED_DEPTH });
  }
}

function isTooDeep(bytes: Uint8Array): boolean {
  if (bytes.length <= STORED_DEPTH) return false;
  const measured = measureJson(bytes, { maxDepth: STORED_DEPTH, maxItems: Number.POSITIVE_INFINITY });
  return measured.depth > STORED_DEPTH;
}

function eventOf(line: Uint8Array, request: TransportRequest): WatchEvent<IndexedObject> {
  const bytes = cutManagedFields(line, 'event');
  const { type, object } = parse(bytes, request) as { type: WatchEvent['type']; object: KubeObject };
  if (type === 'ERROR') return { type, object: object as unknown as Status };
  if (type === 'BOOKMARK') return { type, object };
  const slice = memberOf(bytes, 0, 'object') as Slice;
  return { type, object: indexed(object, bytes, slice, request) };
}

/** The bytes are a view of the answer, which lives until the last of its objects is written: a page at most. */
function indexed(
  object: KubeObject | undefined,
  bytes: Uint8Array,
  { start, end }: Slice,
  { path }: TransportRequest,
): IndexedObject {
  const { apiVersion, kind, metadata } = object ?? {};
  if (!metadata?.name) {
    throw new ClientError(`GET ${withoutQuery(path)}: an object has no metadata.name`, { code: 'ERR_NOT_AN_OBJECT' });
  }
  return {
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(kind === undefined ? {} : { kind }),
    metadata,
    bytes: bytes.subarray(start, end),
  };
}

/** Never quotes what it cannot read: it may be a Secret. */
function parse(bytes: Uint8Array, { path }: TransportRequest): unknown {
  try {
    if (isUtf8(bytes)) return parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
  } catch {
    // Said below, as for bytes that are no text.
  }
  throw new ClientError(`GET ${withoutQuery(path)}: the answer, of ${bytes.length} bytes, is not JSON`, {
    code: 'ERR_NOT_JSON',
  });
}

function withoutQuery(path: string): string {
  return path.replace(/\?.*/, '');
}

function query(parameters: Record<string, string | number | boolean | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') search.set(name, String(value));
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

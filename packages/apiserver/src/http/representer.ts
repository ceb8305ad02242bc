import {
  badRequest,
  builtinPrinter,
  customResourcePrinter,
  failure,
  formatApiVersion,
  parseJson,
  type TablePrinter,
} from '@asterism/machinery';
import type { ServedResource, Stored, StoredList, WatchItem } from '../registry/registry.ts';
import { answerBytes, encodeValue } from './answer.ts';
import type { ApiResponse } from './api-request.ts';
import { type ListShape, listBody, plainList } from './list-body.ts';
import { MetadataRepresenter, partialMetadata } from './metadata-representer.ts';
import { type Encoding, MEDIA_TYPE, type Representation, type Transform } from './negotiate.ts';
import { ProtobufRepresenter } from './protobuf-representer.ts';
import { TableRepresenter } from './table-representer.ts';

/** What of an object a Table carries beside its cells. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** Writes objects of one resource in one representation. */
export interface Representer {
  /** The content type of a watch. */
  readonly watchType: string;
  object(status: number, stored: Stored): Promise<ApiResponse>;
  list(list: StoredList): Promise<ApiResponse>;
  /** A new encoder for one watch: its first Table names the columns, later ones do not. */
  watchLines(): Promise<(item: WatchItem) => Buffer>;
}

export interface RepresenterOptions {
  includeObject: IncludeObject;
  /** Milliseconds since 1970, from which the ages in a Table are told. */
  clock: () => number;
  /** Events as protobuf, each encoded once for all who watch. */
  frames: WeakMap<WatchItem, Buffer>;
}

/** `kind` is that of the answer: a subresource's, where it has its own. */
export function createRepresenter(
  resource: ServedResource,
  kind: { group: string; version: string; kind: string },
  { as, version = 'v1', encoding }: Representation,
  options: RepresenterOptions,
): Representer {
  const meta = { group: 'meta.k8s.io', version };
  const apiVersion = formatApiVersion(meta);
  const request = metadataRequest(as, resource, kind);
  if (as === 'Table') return new TableRepresenter(printerOf(resource, kind), { apiVersion, encoding, ...options });
  if (encoding !== 'protobuf') {
    return as === undefined
      ? new PlainRepresenter(resource, encoding)
      : new MetadataRepresenter(apiVersion, encoding, request);
  }
  if (as === undefined) {
    const list = { apiVersion: formatApiVersion(resource.type), kind: resource.listKind };
    return new ProtobufRepresenter(
      { object: (stored) => stored.parse(), item: resource.type, list },
      { frames: options.frames },
    );
  }
  return new ProtobufRepresenter({
    request,
    object: (stored) => partialMetadata(stored, apiVersion),
    item: { ...meta, kind: 'PartialObjectMetadata' },
    list: { apiVersion, kind: 'PartialObjectMetadataList' },
  });
}

/** Metadata of one object, or of many: each is refused with 406 where the answer is the other. */
export interface MetadataRequest {
  checkIsOne(): void;
  checkIsMany(): void;
}

function metadataRequest(
  as: Transform | undefined,
  { storage, listKind }: ServedResource,
  { group, kind }: { group: string; kind: string },
): MetadataRequest {
  const refuse = (why: string, name: string): never => {
    const type = storage === 'custom' ? 'unstructured.' : goPackage(group);
    throw failure(406, `you requested ${as}, but the requested object is ${why} (*${type}${name})`);
  };
  return {
    checkIsOne() {
      if (as !== 'PartialObjectMetadataList') return;
      refuse('not a list', storage === 'custom' ? 'Unstructured' : kind);
    },
    checkIsMany() {
      if (as !== 'PartialObjectMetadata') return;
      refuse('a list', storage === 'custom' ? 'UnstructuredList' : listKind);
    },
  };
}

/** Where upstream's own types of a group are: `core.`, `rbac.`. */
function goPackage(group: string): string {
  return group === '' || group === 'events.k8s.io' ? 'core.' : `${group.split('.')[0]}.`;
}

function printerOf(resource: ServedResource, kind: { group: string; kind: string }): TablePrinter {
  const own = kind.group === resource.type.group && kind.kind === resource.type.kind;
  return own && resource.storage === 'custom'
    ? customResourcePrinter(resource.printerColumns?.slice())
    : builtinPrinter(kind);
}

/** `includeObject` as the query says it; 400 for another word. */
export function readIncludeObject(query: URLSearchParams): IncludeObject {
  const value = query.get('includeObject') ?? '';
  if (value === '' || value === 'Metadata') return 'Metadata';
  if (value === 'None' || value === 'Object') return value;
  const why = `includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`;
  throw badRequest(`Unable to convert to Table as requested: ${why}`);
}

class PlainRepresenter implements Representer {
  readonly watchType = MEDIA_TYPE.json;
  readonly #resource: ServedResource;
  readonly #encoding: Encoding;

  constructor(resource: ServedResource, encoding: Encoding) {
    this.#resource = resource;
    this.#encoding = encoding;
  }

  object(status: number, stored: Stored): Promise<ApiResponse> {
    if (this.#encoding === 'yaml') return encodeValue(status, stored.parse(), 'yaml');
    return Promise.resolve(answerBytes(status, stored.bytes));
  }

  async list(list: StoredList): Promise<ApiResponse> {
    return await answerList(list.items, plainList(this.#resource, list), this.#encoding);
  }

  watchLines(): Promise<(item: WatchItem) => Buffer> {
    return Promise.resolve((item) => item.line());
  }
}

/** A list put together from the bytes of its items; as YAML only by way of the whole. */
export async function answerList(items: readonly Stored[], shape: ListShape, encoding: Encoding): Promise<ApiResponse> {
  const { length, pieces } = listBody(items, shape);
  if (encoding !== 'yaml') {
    return {
      status: 200,
      headers: { 'content-type': MEDIA_TYPE.json, 'content-length': String(length) },
      body: pieces,
    };
  }
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return await encodeValue(200, parseJson(Buffer.concat(all).toString()) as object, 'yaml');
}

/** An `ERROR` carries a Status in every representation. */
export function watchLine(item: WatchItem, transform: () => unknown): Buffer {
  if (item.type === 'ERROR') return item.line();
  return Buffer.from(`${JSON.stringify({ type: item.type, object: transform() })}\n`);
}

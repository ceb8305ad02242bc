import {
  badRequest,
  builtinPrinter,
  customResourcePrinter,
  type KubeObject,
  type TableColumn,
  type TablePrinter,
} from '@asterism/machinery';
import type { ServedResource, Stored, StoredList, WatchItem } from '../registry/registry.ts';
import { answerBytes, encodeValue } from './answer.ts';
import type { ApiResponse } from './api-request.ts';
import { type ListShape, listBody, listHead, plainList } from './list-body.ts';
import { MEDIA_TYPE, type Representation } from './negotiate.ts';

/** What of an object a Table carries beside its cells. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** Writes objects of one resource in one representation. */
export interface Representer {
  object(status: number, stored: Stored): Promise<ApiResponse>;
  list(list: StoredList): Promise<ApiResponse>;
  /** A new encoder for one watch: its first Table names the columns, later ones do not. */
  watchLines(): (item: WatchItem) => Buffer;
}

export interface RepresenterOptions {
  includeObject: IncludeObject;
  /** Milliseconds since 1970, from which the ages in a Table are told. */
  clock: () => number;
}

/** `kind` is that of the answer: a subresource's, where it has its own. */
export function createRepresenter(
  resource: ServedResource,
  kind: { group: string; version: string; kind: string },
  representation: Representation,
  options: RepresenterOptions,
): Representer {
  const { as, version = 'v1' } = representation;
  const apiVersion = `meta.k8s.io/${version}`;
  if (as === 'Table') return new TableRepresenter(printerOf(resource, kind), apiVersion, options);
  if (as === undefined) return new PlainRepresenter(resource, representation);
  return new MetadataRepresenter(apiVersion);
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
  readonly #resource: ServedResource;
  readonly #representation: Representation;

  constructor(resource: ServedResource, representation: Representation) {
    this.#resource = resource;
    this.#representation = representation;
  }

  object(status: number, stored: Stored): Promise<ApiResponse> {
    if (this.#representation.encoding === 'yaml') return encodeValue(status, stored.parse(), 'yaml');
    return Promise.resolve(answerBytes(status, stored.bytes));
  }

  async list(list: StoredList): Promise<ApiResponse> {
    return await answerList(list, plainList(this.#resource, list), this.#representation);
  }

  watchLines(): (item: WatchItem) => Buffer {
    return (item) => item.line();
  }
}

class MetadataRepresenter implements Representer {
  readonly #apiVersion: string;

  constructor(apiVersion: string) {
    this.#apiVersion = apiVersion;
  }

  object(status: number, stored: Stored): Promise<ApiResponse> {
    return encodeValue(status, partial(stored.parse(), this.#apiVersion), 'json');
  }

  async list(list: StoredList): Promise<ApiResponse> {
    const head = listHead('PartialObjectMetadataList', this.#apiVersion, list);
    const item = (stored: Stored): Buffer => bytesOf(partial(stored.parse(), this.#apiVersion));
    return await answerList(list, { head, opening: '', item }, { encoding: 'json' });
  }

  watchLines(): (item: WatchItem) => Buffer {
    return (item) => watchLine(item, () => partial(item.object.parse(), this.#apiVersion));
  }
}

class TableRepresenter implements Representer {
  readonly #printer: TablePrinter;
  readonly #apiVersion: string;
  readonly #include: IncludeObject;
  readonly #clock: () => number;

  constructor(printer: TablePrinter, apiVersion: string, options: RepresenterOptions) {
    this.#printer = printer;
    this.#apiVersion = apiVersion;
    this.#include = options.includeObject;
    this.#clock = options.clock;
  }

  object(status: number, stored: Stored): Promise<ApiResponse> {
    return encodeValue(status, this.#table(stored, this.#printer.columns), 'json');
  }

  async list(list: StoredList): Promise<ApiResponse> {
    const columns = JSON.stringify(this.#printer.columns);
    const head = listHead('Table', this.#apiVersion, list, `"columnDefinitions":${columns},"rows"`);
    const item = (stored: Stored): Buffer => bytesOf(this.#row(stored));
    return await answerList(list, { head, opening: '', item }, { encoding: 'json' });
  }

  watchLines(): (item: WatchItem) => Buffer {
    let columns: readonly TableColumn[] | null = this.#printer.columns;
    return (item) =>
      watchLine(item, () => {
        const table = this.#table(item.object, columns);
        columns = null;
        return table;
      });
  }

  #table(stored: Stored, columnDefinitions: readonly TableColumn[] | null) {
    const metadata = { resourceVersion: stored.resourceVersion };
    return { kind: 'Table', apiVersion: this.#apiVersion, metadata, columnDefinitions, rows: [this.#row(stored)] };
  }

  #row(stored: Stored) {
    const object = stored.parse();
    const row = this.#printer.row(object, this.#clock());
    if (this.#include === 'None') return { ...row, object: null };
    return { ...row, object: this.#include === 'Object' ? object : partial(object, this.#apiVersion) };
  }
}

async function answerList(list: StoredList, shape: ListShape, { encoding }: Representation): Promise<ApiResponse> {
  const { length, pieces } = listBody(list.items, shape);
  if (encoding !== 'yaml') {
    return {
      status: 200,
      headers: { 'content-type': MEDIA_TYPE.json, 'content-length': String(length) },
      body: pieces,
    };
  }
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return await encodeValue(200, JSON.parse(Buffer.concat(all).toString()), 'yaml');
}

function partial({ metadata = {} }: KubeObject, apiVersion: string): KubeObject {
  return { kind: 'PartialObjectMetadata', apiVersion, metadata };
}

/** An `ERROR` carries a Status in every representation. */
function watchLine(item: WatchItem, transform: () => unknown): Buffer {
  if (item.type === 'ERROR') return item.line();
  return Buffer.from(`${JSON.stringify({ type: item.type, object: transform() })}\n`);
}

function bytesOf(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

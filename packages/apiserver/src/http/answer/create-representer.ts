import {
  badRequest,
  builtinPrinter,
  customResourcePrinter,
  failure,
  formatApiVersion,
  type TablePrinter,
} from '@asterism/machinery';
import type { WatchItem } from '../../registry/registry.ts';
import { MetadataRepresenter, partialMetadata } from './metadata-representer.ts';
import type { Representation, Transform } from './negotiate.ts';
import { PlainRepresenter } from './plain-representer.ts';
import { ProtobufRepresenter } from './protobuf-representer.ts';
import type { IncludeObject, MetadataRequest, Representer } from './representer.ts';
import { TableRepresenter } from './table-representer.ts';
import type { ServedResource } from '../../contract/served-resource.ts';

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

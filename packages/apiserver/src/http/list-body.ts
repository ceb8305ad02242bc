import { formatApiVersion } from '@asterism/machinery';
import type { ServedResource, Stored, StoredList } from '../registry/registry.ts';

/** Lists leave in pieces of about this many bytes, so that other requests are served in between. */
const PIECE_BYTES = 64 * 1024;

/** The bytes of one JSON answer in pieces, and how many they are together. */
export interface PiecedBody {
  length: number;
  pieces: AsyncIterable<Uint8Array>;
}

/** A JSON object whose last field is a list of many items. */
export interface ListShape {
  /** Everything up to the list's bracket: `{"kind":"PodList",…,"items":[`. */
  head: string;
  /** Stands before each item's bytes. */
  opening: '' | '{';
  item: (stored: Stored) => Buffer;
  /** How many bytes an item will be, where that is known without making it: then each is made when its piece leaves. */
  sizeOf?: (stored: Stored) => number;
}

/** The list kind of a resource. Items of built-in kinds are written without their own `kind` and `apiVersion`, as upstream. */
export function plainList(resource: ServedResource, list: StoredList): ListShape {
  // The list of a custom resource always says whether it goes on.
  const meta = resource.storage === 'custom' ? { continue: '', ...list } : list;
  const head = listHead(resource.listKind, formatApiVersion(resource.type), meta);
  return resource.storage === 'builtin'
    ? {
        head,
        opening: '{',
        item: ({ bytes, bareStart }) => bytes.subarray(bareStart),
        sizeOf: ({ bytes, bareStart }) => bytes.length - bareStart,
      }
    : { head, opening: '', item: ({ bytes }) => bytes, sizeOf: ({ bytes }) => bytes.length };
}

/** `{"kind":…,"apiVersion":…,"metadata":{…},"items":[`; `field` is the list's name, with what stands before it. */
export function listHead(kind: string, apiVersion: string, list: StoredList, field = '"items"'): string {
  return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":${JSON.stringify(listMeta(list))},${field}:[`;
}

/** The metadata of a list. */
export function listMeta({ resourceVersion, continue: next, remainingItemCount }: StoredList) {
  return {
    resourceVersion,
    ...(next === undefined ? {} : { continue: next }),
    ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
  };
}

/** A list as bytes, put together from the bytes of its items: nothing is encoded again, and never all of it at once. */
export function listBody(stored: readonly Stored[], { head, opening, item, sizeOf }: ListShape): PiecedBody {
  const first = Buffer.from(head + (stored.length > 0 ? opening : ''));
  const separator = Buffer.from(`,${opening}`);
  const close = Buffer.from(']}\n');
  let length = first.length + Math.max(0, stored.length - 1) * separator.length + close.length;
  if (sizeOf === undefined) {
    const items = stored.map(item);
    for (const { length: size } of items) length += size;
    return { length, pieces: inPieces(first, items, separator, close) };
  }
  for (const each of stored) length += sizeOf(each);
  return { length, pieces: inPieces(first, stored.values().map(item), separator, close) };
}

async function* inPieces(
  first: Buffer,
  items: Iterable<Buffer>,
  separator: Buffer,
  close: Buffer,
): AsyncGenerator<Uint8Array> {
  let parts: Buffer[] = [first];
  let size = first.length;
  let isFirst = true;
  for (const item of items) {
    if (!isFirst) parts.push(separator);
    isFirst = false;
    parts.push(item);
    size += item.length + separator.length;
    if (size >= PIECE_BYTES) {
      yield Buffer.concat(parts);
      parts = [];
      size = 0;
    }
  }
  parts.push(close);
  yield Buffer.concat(parts);
}

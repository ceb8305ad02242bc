import { formatApiVersion } from '@asterism/machinery';
import type { ServedResource, Stored, StoredList } from '../registry/registry.ts';

/** Lists leave in pieces of about this many bytes, so that other requests are served in between. */
const PIECE_BYTES = 256 * 1024;

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
}

/** The list kind of a resource. Items of built-in kinds are written without their own `kind` and `apiVersion`, as upstream. */
export function plainList(resource: ServedResource, list: StoredList): ListShape {
  const head = listHead(resource.listKind, formatApiVersion(resource.type), list);
  return resource.storage === 'builtin'
    ? { head, opening: '{', item: ({ bytes, bareStart }) => bytes.subarray(bareStart) }
    : { head, opening: '', item: ({ bytes }) => bytes };
}

/** `{"kind":…,"apiVersion":…,"metadata":{…},"items":[`; `field` is the list's name, with what stands before it. */
export function listHead(kind: string, apiVersion: string, list: StoredList, field = '"items"'): string {
  return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":${JSON.stringify(listMeta(list))},${field}:[`;
}

function listMeta({ resourceVersion, continue: next, remainingItemCount }: StoredList) {
  return {
    resourceVersion,
    ...(next === undefined ? {} : { continue: next }),
    ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
  };
}

/** A list as bytes, put together from the bytes of its items: nothing is encoded again, and never all of it at once. */
export function listBody(stored: readonly Stored[], { head, opening, item }: ListShape): PiecedBody {
  const first = Buffer.from(head + (stored.length > 0 ? opening : ''));
  const separator = Buffer.from(`,${opening}`);
  const close = Buffer.from(']}\n');
  const items = stored.map(item);
  const separators = Math.max(0, items.length - 1) * separator.length;
  const length = items.reduce((sum, bytes) => sum + bytes.length, first.length + separators + close.length);
  return { length, pieces: inPieces(first, items, separator, close) };
}

async function* inPieces(
  first: Buffer,
  items: readonly Buffer[],
  separator: Buffer,
  close: Buffer,
): AsyncGenerator<Uint8Array> {
  let parts: Buffer[] = [first];
  let size = first.length;
  for (const [index, item] of items.entries()) {
    if (index > 0) parts.push(separator);
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

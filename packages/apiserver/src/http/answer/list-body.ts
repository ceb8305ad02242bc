import { formatApiVersion } from '@asterism/machinery';
import type { StoredList } from '../../registry/registry.ts';
import type { Stored } from '../../contract/stored.ts';
import type { PushedBody } from '../../contract/api-request.ts';
import { endBody } from '../wire/pump-body.ts';
import type { Sink } from '../../contract/sink.ts';
import type { ServedResource } from '../../contract/served-resource.ts';

/** Lists leave in pieces of at most so many bytes (an item that is larger, by itself), so that other requests are served in between. */
const PIECE_BYTES = 64 * 1024;

/** The bytes of one JSON answer in pieces, and how many they are together. */
export interface PiecedBody {
  length: number;
  pieces: PushedBody;
}

/** A JSON object whose last field is a list of many items. */
export interface ListShape {
  /** Everything up to the list's bracket: `{"kind":"PodList",…,"items":[`. */
  head: string;
  /** Stands before each item's bytes. */
  opening: '' | '{';
  item: (stored: Stored) => Buffer;
  /** For items whose bytes are there and need not be made: how many at the beginning of each are left out. */
  startOf?: (stored: Stored) => number;
}

/** The list kind of a resource. Items of built-in kinds are written without their own `kind` and `apiVersion`, as upstream. */
export function plainList(resource: ServedResource, list: StoredList): ListShape {
  // The list of a custom resource always says whether it goes on.
  const meta = resource.storage === 'custom' ? { continue: '', ...list } : list;
  const head = listHead(resource.listKind, formatApiVersion(resource.type), meta);
  return resource.storage === 'builtin'
    ? { head, opening: '{', item: ({ bytes }) => bytes, startOf: ({ bareStart }) => bareStart }
    : { head, opening: '', item: ({ bytes }) => bytes, startOf: () => 0 };
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
export function listBody(stored: readonly Stored[], { head, opening, item, startOf }: ListShape): PiecedBody {
  const made = startOf === undefined ? stored.map(item) : undefined;
  const pieces = new ListPieces({
    first: Buffer.from(head + (stored.length > 0 ? opening : '')),
    separator: Buffer.from(`,${opening}`),
    count: stored.length,
    item: (index) => made?.[index] ?? item(stored[index]!),
    startOf: (index) => startOf?.(stored[index]!) ?? 0,
  });
  return { length: pieces.length, pieces };
}

const CLOSE = Buffer.from(']}\n');

interface ListParts {
  first: Buffer;
  separator: Buffer;
  count: number;
  item(index: number): Buffer;
  startOf(index: number): number;
}

/**
 * Pushed, all pieces of a list are made in one buffer, each when the last has left: a list of many MB for each of several clients
 * would otherwise have the garbage collected again and again, and whoever comes meanwhile would wait for that.
 */
class ListPieces implements PushedBody {
  readonly length: number;
  readonly #parts: ListParts;
  #next = 0;
  #done = false;
  #onEnd: (() => void) | undefined;
  #ended = false;

  constructor(parts: ListParts) {
    this.#parts = parts;
    const { first, separator, count } = parts;
    let length = first.length + Math.max(0, count - 1) * separator.length + CLOSE.length;
    for (let index = 0; index < count; index++) length += parts.item(index).length - parts.startOf(index);
    this.length = length;
  }

  onEnd(listener: () => void): void {
    if (this.#ended) listener();
    else this.#onEnd = listener;
  }

  pushTo(sink: Sink): void {
    const { stream, stallMs } = sink;
    if (this.length <= PIECE_BYTES) {
      endBody(sink, this.#piece());
      this.#end();
      return;
    }
    const buffer = Buffer.allocUnsafeSlow(PIECE_BYTES);
    const stall = setTimeout(() => sink.cut(), stallMs);
    stream.on('close', () => {
      clearTimeout(stall);
      this.#end();
    });
    const push = (): void => {
      if (this.#ended) return;
      stall.refresh();
      const piece = this.#piece(buffer);
      if (!this.#done) {
        stream.write(piece, push);
        return;
      }
      clearTimeout(stall);
      endBody(sink, piece);
      this.#end();
    };
    push();
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    const end = (): Promise<IteratorResult<Uint8Array>> => {
      this.#end();
      return Promise.resolve({ done: true, value: undefined });
    };
    const next = () => (this.#done ? end() : Promise.resolve({ done: false, value: this.#piece() }));
    return { next, return: end };
  }

  /** The next piece, in `buffer` where it fits. */
  #piece(buffer?: Buffer): Buffer {
    const { first, separator, count, item, startOf } = this.#parts;
    const from = this.#next;
    let size = from === 0 ? first.length : 0;
    let to = from;
    for (; to < count; to++) {
      const more = (to === 0 ? 0 : separator.length) + item(to).length - startOf(to);
      if (to > from && size + more + CLOSE.length > PIECE_BYTES) break;
      size += more;
    }
    this.#next = to;
    this.#done = to === count;
    if (this.#done) size += CLOSE.length;
    const piece =
      buffer !== undefined && size <= buffer.length ? buffer.subarray(0, size) : Buffer.allocUnsafeSlow(size);
    let at = from === 0 ? first.copy(piece) : 0;
    for (let index = from; index < to; index++) {
      if (index > 0) at += separator.copy(piece, at);
      at += item(index).copy(piece, at, startOf(index));
    }
    if (this.#done) CLOSE.copy(piece, at);
    return piece;
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#onEnd?.();
  }
}

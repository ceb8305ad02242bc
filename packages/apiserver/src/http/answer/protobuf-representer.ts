import { setImmediate } from 'node:timers/promises';
import { type GroupVersionKind, type KubeObject, loadProtobuf } from '@asterism/machinery';
import type { StoredList, WatchItem } from '../../registry/registry.ts';
import type { Stored } from '../../contract/stored.ts';
import { encodeValue } from './answer.ts';
import type { ApiResponse } from '../../contract/api-request.ts';
import { listMeta } from './list-body.ts';
import { MEDIA_TYPE } from './negotiate.ts';
import type { MetadataRequest, Representer } from './representer.ts';

/** Lists leave in pieces of about this many bytes, so that other requests are served in between. */
const PIECE_BYTES = 256 * 1024;
/** So many items are encoded before other requests are served. */
const ITEMS_AT_ONCE = 32;

/** What is encoded, and as which kinds. */
export interface ProtobufShape {
  /** Of metadata alone. */
  request?: MetadataRequest;
  object(stored: Stored): KubeObject;
  item: GroupVersionKind;
  list: { apiVersion: string; kind: string };
}

/** Objects of built-in kinds as protobuf; of any kind, their metadata. */
export class ProtobufRepresenter implements Representer {
  readonly watchType = `${MEDIA_TYPE.protobuf};stream=watch`;
  readonly #shape: ProtobufShape;
  readonly #frames: WeakMap<WatchItem, Buffer> | undefined;

  /** @param frames events encoded already, shared with others of the same shape. */
  constructor(shape: ProtobufShape, { frames }: { frames?: WeakMap<WatchItem, Buffer> } = {}) {
    this.#shape = shape;
    this.#frames = frames;
  }

  object(status: number, stored: Stored): Promise<ApiResponse> {
    this.#shape.request?.checkIsOne();
    return encodeValue(status, this.#shape.object(stored), 'protobuf');
  }

  /** A list begins with its length: its items are encoded before the first of them leaves. */
  async list(list: StoredList): Promise<ApiResponse> {
    this.#shape.request?.checkIsMany();
    const protobuf = await loadProtobuf();
    const items: Uint8Array[] = [];
    for (const stored of list.items) {
      if (items.length % ITEMS_AT_ONCE === ITEMS_AT_ONCE - 1) await setImmediate();
      items.push(protobuf.encodeItem(this.#shape.object(stored), this.#shape.item));
    }
    const { length, parts } = protobuf.encodeList({ ...this.#shape.list, metadata: listMeta(list) }, items);
    const headers = { 'content-type': MEDIA_TYPE.protobuf, 'content-length': String(length) };
    return { status: 200, headers, body: inPieces(parts) };
  }

  async watchLines(): Promise<(item: WatchItem) => Buffer> {
    const protobuf = await loadProtobuf();
    return (item) => {
      const known = this.#frames?.get(item);
      if (known !== undefined) return known;
      const object = item.type === 'ERROR' ? item.object.parse() : this.#shape.object(item.object);
      const { buffer, byteOffset, byteLength } = protobuf.encodeEvent(item.type, object);
      const frame = Buffer.from(buffer, byteOffset, byteLength);
      this.#frames?.set(item, frame);
      return frame;
    };
  }
}

async function* inPieces(parts: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let gathered: Uint8Array[] = [];
  let size = 0;
  for (const part of parts) {
    gathered.push(part);
    size += part.length;
    if (size < PIECE_BYTES) continue;
    yield Buffer.concat(gathered);
    gathered = [];
    size = 0;
  }
  yield Buffer.concat(gathered);
}

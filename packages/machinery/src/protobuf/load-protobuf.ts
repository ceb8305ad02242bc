import { protobufDescriptor } from '#platform';
import { once } from '../schema/once.ts';
import { formatApiVersion, type GroupVersionKind, parseApiVersion } from '../kinds.ts';
import type { KubeObject } from '../object.ts';
import { decodeMessage } from './decode-message.ts';
import { encodeMessage } from './encode-message.ts';
import { type Descriptor, type MessagePlan, MessagePlans, WireType } from './message-plans.ts';
import { ProtobufError } from './protobuf-error.ts';

export { ProtobufError };

/** `application/vnd.kubernetes.protobuf`: built-in kinds as protobuf messages in a `runtime.Unknown` behind `k8s\0`. */
export interface Protobuf {
  /**
   * The object in a body, as its JSON would be. Fields that cannot be told from unset ones are left out.
   *
   * @param fallback the kind, where the body does not name one.
   * @throws ProtobufError in the words of a kube-apiserver.
   */
  decode(bytes: Uint8Array, fallback?: GroupVersionKind): KubeObject;
  /** A body with the object. Fields that the messages do not have are left out. Throws ProtobufError for a kind without one. */
  encode(object: KubeObject): Uint8Array;
  /** An object of that kind as it stands in a list: its message alone. Throws as {@link Protobuf.encode} does. */
  encodeItem(object: KubeObject, kind: GroupVersionKind): Uint8Array;
  /**
   * A body with a list whose items are encoded already, in parts, of which none is copied.
   *
   * @param list its kind, apiVersion and metadata.
   */
  encodeList(list: KubeObject, items: readonly Uint8Array[]): EncodedParts;
  /** One event of a watch, behind its length in four bytes, as it stands in the stream. */
  encodeEvent(type: string, object: KubeObject): Uint8Array;
  /** Whether the kind can be decoded and encoded. */
  knows(kind: GroupVersionKind): boolean;
}

/** Bytes in parts, and how many they are together. */
export interface EncodedParts {
  length: number;
  parts: Iterable<Uint8Array>;
}

const PREFIX = new TextEncoder().encode('k8s\0');
const UNKNOWN = 'k8s.io.apimachinery.pkg.runtime.Unknown';
const UNKNOWN_RAW = 2;
/** Bytes: two tags, two lengths of zero. */
const EMPTY_CONTENT_FIELDS = 4;

/**
 * What reads and writes protobuf. The first call loads it, with its descriptor of 1,251 messages (20 ms); each of them is
 * compiled when first met.
 */
export const loadProtobuf: () => Promise<Protobuf> = once(load);

async function load(): Promise<Protobuf> {
  const { default: library } = await import('protobufjs/minimal.js');
  return new Codec(library, new MessagePlans(protobufDescriptor() as Descriptor));
}

class Codec implements Protobuf {
  readonly #library: Pick<typeof import('protobufjs'), 'Reader' | 'Writer'>;
  readonly #plans: MessagePlans;
  readonly #unknown: MessagePlan;

  constructor(library: Pick<typeof import('protobufjs'), 'Reader' | 'Writer'>, plans: MessagePlans) {
    this.#library = library;
    this.#plans = plans;
    this.#unknown = plans.named(UNKNOWN);
  }

  decode(bytes: Uint8Array, fallback?: GroupVersionKind): KubeObject {
    const envelope = this.#read(unwrap(bytes), this.#unknown) as { typeMeta?: KubeObject; raw?: Uint8Array };
    const apiVersion = envelope.typeMeta?.apiVersion || formatApiVersion(fallback ?? { group: '', version: '' });
    const kind = envelope.typeMeta?.kind || (fallback?.kind ?? '');
    const message = this.#messageOf(apiVersion, kind);
    try {
      const { version } = parseApiVersion(apiVersion);
      return { kind, apiVersion, ...this.#read(envelope.raw ?? new Uint8Array(), message, { version, kind }) };
    } catch (cause) {
      if (!(cause instanceof ProtobufError)) throw cause;
      throw new ProtobufError(cause.message, { cause, kind: { ...parseApiVersion(apiVersion), kind } });
    }
  }

  encode(object: KubeObject): Uint8Array {
    const { apiVersion = '', kind = '' } = object;
    const raw = this.#write(object, this.#messageOf(apiVersion, kind));
    return this.#concat([PREFIX, this.#write({ typeMeta: { apiVersion, kind }, raw }, this.#unknown)]);
  }

  encodeItem(object: KubeObject, kind: GroupVersionKind): Uint8Array {
    return this.#write(object, this.#messageOf(formatApiVersion(kind), kind.kind));
  }

  encodeList({ apiVersion = '', kind = '', metadata }: KubeObject, items: readonly Uint8Array[]): EncodedParts {
    const message = this.#messageOf(apiVersion, kind);
    const id = message.fields.find(({ name }) => name === 'items')?.id ?? 0;
    const opening = this.#write({ metadata }, message);
    const heads = items.map(({ length }) => this.#delimiter(id, length));
    const size = items.reduce((sum, { length }, i) => sum + heads[i]!.length + length, opening.length);
    const envelope = this.#write({ typeMeta: { apiVersion, kind } }, this.#unknown);
    // The list stands between the envelope's type and its two empty fields for the content's encoding and type.
    const tail = envelope.subarray(-EMPTY_CONTENT_FIELDS);
    const before = envelope.subarray(0, -EMPTY_CONTENT_FIELDS);
    const head = this.#concat([PREFIX, before, this.#delimiter(UNKNOWN_RAW, size), opening]);
    return { length: head.length + size - opening.length + tail.length, parts: listParts(head, heads, items, tail) };
  }

  encodeEvent(type: string, object: KubeObject): Uint8Array {
    const writer = this.#library.Writer.create().uint32(delimitedTag(1)).string(type).uint32(delimitedTag(2)).fork();
    const event = writer.uint32(delimitedTag(1)).bytes(this.encode(object)).ldelim().finish();
    const frame = this.#library.Writer.alloc(4 + event.length);
    frame[0] = event.length >>> 24;
    frame[1] = event.length >>> 16;
    frame[2] = event.length >>> 8;
    frame[3] = event.length;
    frame.set(event, 4);
    return frame;
  }

  knows({ group, version, kind }: GroupVersionKind): boolean {
    return this.#plans.ofKind(group, version, kind) !== undefined;
  }

  #messageOf(apiVersion: string, kind: string): MessagePlan {
    const { group, version } = parseApiVersion(apiVersion);
    const message = this.#plans.ofKind(group, version, kind);
    if (!message) throw new ProtobufError(`no kind "${kind}" is registered for version "${apiVersion}"`);
    return message;
  }

  #read(bytes: Uint8Array, message: MessagePlan, kind?: ProtobufError['kind']): KubeObject {
    try {
      return decodeMessage(this.#library.Reader.create(bytes), bytes.length, message) as KubeObject;
    } catch (cause) {
      // Bytes that end too early, and text within them that is no JSON.
      if (cause instanceof RangeError) throw new ProtobufError('unexpected EOF', { cause, kind });
      if (cause instanceof SyntaxError) throw new ProtobufError(`invalid JSON: ${cause.message}`, { cause, kind });
      if (cause instanceof ProtobufError) throw new ProtobufError(cause.message, { cause, kind });
      throw cause;
    }
  }

  #write(object: object, message: MessagePlan): Uint8Array {
    const writer = this.#library.Writer.create();
    encodeMessage(writer, object, message);
    return writer.finish();
  }

  #concat(parts: readonly Uint8Array[]): Uint8Array {
    const whole = this.#library.Writer.alloc(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }

  #delimiter(id: number, length: number): Uint8Array {
    return this.#library.Writer.create().uint32(delimitedTag(id)).uint32(length).finish();
  }
}

function delimitedTag(id: number): number {
  return (id << 3) | WireType.delimited;
}

function* listParts(
  head: Uint8Array,
  heads: readonly Uint8Array[],
  items: readonly Uint8Array[],
  tail: Uint8Array,
): Generator<Uint8Array> {
  yield head;
  for (const [i, item] of items.entries()) {
    yield heads[i]!;
    yield item;
  }
  yield tail;
}

function unwrap(bytes: Uint8Array): Uint8Array {
  if (!PREFIX.every((byte, i) => byte === bytes[i])) {
    const prefix = `[${[...PREFIX].join(' ')}]`;
    throw new ProtobufError(`provided data does not appear to be a protobuf message, expected prefix ${prefix}`);
  }
  if (bytes.length === PREFIX.length) throw new ProtobufError('empty body');
  return bytes.subarray(PREFIX.length);
}

import { createRequire } from 'node:module';
import { once } from '../schema/once.ts';
import { formatApiVersion, type GroupVersionKind, parseApiVersion } from '../kinds.ts';
import type { KubeObject } from '../object.ts';
import { decodeMessage } from './decode-message.ts';
import { encodeMessage } from './encode-message.ts';
import { type Descriptor, type MessagePlan, MessagePlans } from './message-plans.ts';
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
  /** Whether the kind can be decoded and encoded. */
  knows(kind: GroupVersionKind): boolean;
}

const PREFIX = Buffer.from('k8s\0', 'latin1');
const UNKNOWN = 'k8s.io.apimachinery.pkg.runtime.Unknown';
const require = createRequire(import.meta.url);

/**
 * What reads and writes protobuf. The first call loads it, with its descriptor of 1,251 messages (20 ms); each of them is
 * compiled when first met.
 */
export const loadProtobuf: () => Promise<Protobuf> = once(load);

async function load(): Promise<Protobuf> {
  const { default: protobuf } = await import('protobufjs/minimal.js');
  const plans = new MessagePlans(require('../../data/protobuf-1.36.json') as Descriptor);
  const unknown = plans.named(UNKNOWN);

  const read = (bytes: Uint8Array, message: MessagePlan) => {
    try {
      return decodeMessage(protobuf.Reader.create(bytes), bytes.length, message) as KubeObject;
    } catch (cause) {
      // Bytes that end too early, and text within them that is no JSON.
      if (cause instanceof RangeError) throw new ProtobufError('unexpected EOF', { cause });
      if (cause instanceof SyntaxError) throw new ProtobufError(`invalid JSON: ${cause.message}`, { cause });
      throw cause;
    }
  };

  const messageOf = (apiVersion: string, kind: string) => {
    const { group, version } = parseApiVersion(apiVersion);
    const message = plans.ofKind(group, version, kind);
    if (!message) throw new ProtobufError(`no kind "${kind}" is registered for version "${apiVersion}"`);
    return message;
  };

  return {
    decode(bytes, fallback) {
      const envelope = read(unwrap(bytes), unknown) as { typeMeta?: KubeObject; raw?: Uint8Array };
      const { apiVersion = formatApiVersion(fallback ?? { group: '', version: '' }), kind = fallback?.kind ?? '' } =
        envelope.typeMeta ?? {};
      const message = messageOf(apiVersion, kind);
      return { kind, apiVersion, ...read(envelope.raw ?? new Uint8Array(), message) };
    },
    encode(object) {
      const { apiVersion = '', kind = '' } = object;
      const message = messageOf(apiVersion, kind);
      const raw = protobuf.Writer.create();
      encodeMessage(raw, object, message);
      const writer = protobuf.Writer.create();
      encodeMessage(
        writer,
        { typeMeta: { apiVersion, kind }, raw: raw.finish(), contentEncoding: '', contentType: '' },
        unknown,
      );
      return Buffer.concat([PREFIX, writer.finish()]);
    },
    knows: ({ group, version, kind }) => plans.ofKind(group, version, kind) !== undefined,
  };
}

function unwrap(bytes: Uint8Array): Uint8Array {
  if (bytes.length < PREFIX.length || !PREFIX.equals(bytes.subarray(0, PREFIX.length))) {
    const prefix = `[${[...PREFIX].join(' ')}]`;
    throw new ProtobufError(`provided data does not appear to be a protobuf message, expected prefix ${prefix}`);
  }
  if (bytes.length === PREFIX.length) throw new ProtobufError('empty body');
  return bytes.subarray(PREFIX.length);
}

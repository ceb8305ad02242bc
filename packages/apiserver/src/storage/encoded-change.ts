import type { KubeObject } from '@asterism/machinery';
import type { ObjectChange } from '../contract/object-change.ts';
import type { Change } from './storage.ts';
import { encodeObject, StoredObject } from './stored-object.ts';

/** A change that remembers what it was encoded from, so that nobody has to parse it again. */
export class EncodedChange implements Change {
  readonly type: 'put' | 'delete';
  readonly groupResource: string;
  readonly namespace: string;
  readonly name: string;
  readonly expected: number;
  readonly essentialBytes: number | undefined;
  readonly #object: KubeObject;
  readonly #madeBy: object | undefined;
  stored: StoredObject | undefined;

  constructor(
    { type, groupResource, namespace, name, expected, object, madeBy }: ObjectChange,
    essentialBytes: number | undefined,
  ) {
    this.essentialBytes = essentialBytes;
    this.type = type;
    this.groupResource = groupResource;
    this.namespace = namespace;
    this.name = name;
    this.expected = expected;
    this.#object = object;
    this.#madeBy = madeBy;
  }

  encode(revision: number): Buffer {
    return encodeObject(this.#object, revision);
  }

  keep(revision: number, value: Buffer): StoredObject {
    const metadata = { ...this.#object.metadata, resourceVersion: String(revision) };
    this.stored = new StoredObject(value, revision, { ...this.#object, metadata });
    this.stored.madeBy = this.#madeBy;
    return this.stored;
  }
}

import { type KubeObject, type ObjectMeta, parseJson } from '@asterism/machinery';
import type { Stored } from '../contract/stored.ts';
import type { Slab } from './slab.ts';

/** The fields of an object on which selections are made, by the selector's path. */
export type SelectableFields = Readonly<Record<string, string>>;

export type FieldSelect = (object: KubeObject) => SelectableFields;

/** One version of one object as bytes, with what selections need of it remembered. */
export class StoredObject implements Stored {
  readonly revision: number;
  /** In bytes. */
  readonly size: number;
  /** The served version that made it, under today's schema: it shows the object as it is stored. */
  madeBy: object | undefined;
  /** Its own bytes, or those of the slab that they lie in. */
  #memory: Buffer;
  #slab: Slab | undefined;
  #start = 0;
  #parsed: KubeObject | undefined;
  #labels: Readonly<Record<string, string>> | undefined;
  #fields: SelectableFields | undefined;
  #fieldsBy: FieldSelect | undefined;
  #bareStart = 0;

  constructor(bytes: Buffer, revision: number, object?: KubeObject) {
    this.#memory = bytes;
    this.size = bytes.length;
    this.revision = revision;
    if (object) {
      this.#parsed = object;
      this.#labels = object.metadata?.labels ?? NO_LABELS;
    }
  }

  get bytes(): Buffer {
    return this.#slab ? this.#memory.subarray(this.#start, this.#start + this.size) : this.#memory;
  }

  /** Where its bytes lie with others'; undefined while they have memory of their own. */
  get slab(): Slab | undefined {
    return this.#slab;
  }

  /** Copies its bytes into `slab`, which has room for them, and gives up where they were. */
  moveTo(slab: Slab): void {
    const start = slab.add(this.bytes);
    this.#slab?.remove(this.size);
    this.#memory = slab.bytes;
    this.#slab = slab;
    this.#start = start;
  }

  get resourceVersion(): string {
    return String(this.revision);
  }

  get bareStart(): number {
    if (this.#bareStart === 0) {
      const { bytes } = this;
      const apiVersion = bytes.indexOf(API_VERSION) + API_VERSION.length;
      this.#bareStart = bytes.indexOf('"', apiVersion) + 2;
    }
    return this.#bareStart;
  }

  /** The object. Parsed anew by each call, but for one that was {@link forgetParsed} not yet. */
  parse(): KubeObject {
    return this.#parsed ?? (parseJson(this.bytes.toString()) as KubeObject);
  }

  /**
   * From now on there are only the bytes. (A WeakRef would seem to do that by itself, but what it refers to outlives every small
   * garbage collection, and so all that was written would grow old before it goes.)
   */
  forgetParsed(): void {
    this.#parsed = undefined;
  }

  get labels(): Readonly<Record<string, string>> {
    this.#labels ??= this.parse().metadata?.labels ?? NO_LABELS;
    return this.#labels;
  }

  /** What `select` finds in the object; remembered for as long as the same function asks. */
  fields(select: FieldSelect): SelectableFields {
    if (!this.#fields || this.#fieldsBy !== select) {
      this.#fields = select(this.parse());
      this.#fieldsBy = select;
    }
    return this.#fields;
  }
}

const NO_LABELS: Readonly<Record<string, string>> = Object.freeze({});
const API_VERSION = '"apiVersion":"';

/**
 * The object at a revision, as bytes: `kind` and `apiVersion` first, then metadata in the order in which people know it. At
 * revision 0, which no stored object has, it shows no resourceVersion.
 */
export function encodeObject(object: KubeObject, revision: number): Buffer {
  const { kind, apiVersion, metadata, ...rest } = object;
  const resourceVersion = revision === 0 ? undefined : String(revision);
  return ownBuffer(
    JSON.stringify({ kind, apiVersion, metadata: orderMetadata(metadata ?? {}, resourceVersion), ...rest }),
  );
}

/** Memory of its own: `Buffer.from` takes 64 KiB at a time, all of which the last object in it would keep. */
function ownBuffer(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/** The same object under another revision: what watchers see when it leaves their selection, or is deleted. */
export function withRevision(stored: StoredObject, revision: number): StoredObject {
  return new StoredObject(encodeObject(stored.parse(), revision), revision);
}

/** The order of upstream's encoder. `resourceVersion` stands before anything a user may fill with text: see {@link revisionOf}. */
function orderMetadata(metadata: ObjectMeta, resourceVersion: string | undefined): object {
  const {
    name,
    generateName,
    namespace,
    uid,
    resourceVersion: _,
    generation,
    creationTimestamp,
    managedFields,
    ...rest
  } = metadata;
  return {
    name,
    generateName,
    namespace,
    uid,
    resourceVersion,
    generation,
    creationTimestamp,
    ...rest,
    managedFields,
  };
}

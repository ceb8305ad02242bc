import type { KubeObject } from '@asterism/machinery';

/** One version of one object, kept as bytes. Shared by everyone who reads it. */
export interface Stored {
  /** The object's JSON. It begins `{"kind":…,"apiVersion":…,`. */
  readonly bytes: Buffer;
  /**
   * `{` followed by `bytes.subarray(bareStart)` is the object without `kind` and `apiVersion`, as items stand in the list
   * of a built-in kind.
   */
  readonly bareStart: number;
  readonly resourceVersion: string;
  /** The object, to be treated as readonly. Parsed at most once while anyone holds it. */
  parse(): KubeObject;
}

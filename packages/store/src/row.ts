/** Where rows come from: one resource of one cluster. It is listed, watched and dropped as a whole. */
export interface Source {
  cluster: string;
  /** `''` for the core group. */
  group: string;
  version: string;
  /** Plural: `deployments`. */
  resource: string;
}

/** Names an object within its source. `namespace` is `''` for a cluster-scoped one. */
export interface ObjectKey {
  namespace: string;
  name: string;
}

/** One object as it is written. */
export interface ObjectRow extends ObjectKey {
  kind: string;
  uid: string;
  resourceVersion: string;
  /** The controller among its owners. */
  ownerUid?: string | undefined;
  /** Milliseconds since the epoch. */
  createdAt: number;
  labels?: Readonly<Record<string, string>> | undefined;
  /** JSON, UTF-8. Stored as it is and given back undecoded. */
  object: Uint8Array | string;
}

/** One object as it is read. */
export interface StoredRow extends Source, ObjectKey {
  kind: string;
  uid: string;
  resourceVersion: string;
  ownerUid: string | undefined;
  createdAt: number;
  /** The bytes that were written. */
  object: Uint8Array;
}

/** An object that is gone. With `resourceVersion` a row that is newer stays. */
export interface DeletedKey extends ObjectKey {
  resourceVersion?: string | undefined;
}

import type { KubeObject } from '@asterism/machinery';

/** Where an object stands: `pods` or `deployments.apps`; '' as the namespace of cluster-scoped objects. */
export interface StorageKey {
  readonly groupResource: string;
  readonly namespace: string;
  readonly name: string;
}

/** A write as the registry wants it: objects, not bytes. `object` is ignored for its resourceVersion, which is set here. */
export interface ObjectChange extends StorageKey {
  type: 'put' | 'delete';
  expected: number;
  object: KubeObject;
  /** See `StoredObject.madeBy`. */
  madeBy?: object | undefined;
}

import type { KubeObject, ObjectMeta } from '@asterism/machinery';

/**
 * What a field manager wants of an object of shape `T`, as server-side apply takes it: any part of the spec, and nothing that
 * the server alone writes. A name that the kind does not have is a type error. What an earlier configuration of the same
 * manager had and this one has not is removed, unless somebody else wants it too.
 *
 * @example
 * ```ts
 * const wanted: ApplyConfiguration<Deployment> = { metadata: { namespace: 'shop', name: 'web' }, spec: { replicas: 3 } };
 * ```
 */
export type ApplyConfiguration<T extends KubeObject> = ConfigurationHead &
  Applied<Omit<Declared<T>, OfServer | 'status'>>;

/**
 * The same of `status` alone, for who reports on an object.
 *
 * @example {@link createApply}
 */
export type ApplyStatusConfiguration<T extends KubeObject> = ConfigurationHead &
  Applied<Pick<Declared<T>, 'status' & keyof Declared<T>>>;

/** What names the object. `apiVersion` and `kind` need not be given: they are those of the `ResourceType`. */
interface ConfigurationHead {
  apiVersion?: string;
  kind?: string;
  metadata: ApplyMetadata;
}

/**
 * Metadata that an applier may want.
 *
 * @example {@link ApplyConfiguration}
 */
export interface ApplyMetadata
  extends Pick<ObjectMeta, 'namespace' | 'labels' | 'annotations' | 'finalizers' | 'ownerReferences'> {
  name: string;
  /** This very object and no other: a 409 where there is none, so nothing is created, and a 422 where there is another. */
  uid?: string;
  /** As it was read: where it has changed since, that is a 409. */
  resourceVersion?: string;
}

type OfServer = 'apiVersion' | 'kind' | 'metadata';

/**
 * Without the index signature that a {@link KubeObject} has, which would let every misspelling pass. It stays where a shape says
 * nothing else of the object.
 */
type Declared<T> = keyof Named<T> extends keyof Named<KubeObject> ? T : Named<T>;

type Named<T> = { [K in keyof T as string extends K ? never : number extends K ? never : K]: T[K] };

/** Any part of it, at every depth. */
type Applied<T> = T extends readonly (infer Item)[]
  ? readonly Applied<Item>[]
  : T extends object
    ? { [K in keyof T]?: Applied<T[K]> }
    : T;

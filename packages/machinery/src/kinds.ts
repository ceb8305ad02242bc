import type { KubeObject } from './object.ts';

export interface GroupVersion {
  group: string;
  version: string;
}

export interface GroupVersionKind extends GroupVersion {
  kind: string;
}

export interface GroupVersionResource extends GroupVersion {
  resource: string;
}

/**
 * A kind that an API server serves: how it is named in JSON (`kind`), where it stands in a URL (`resource`) and whether it
 * lives in namespaces. `T` is the shape of its objects; it exists in the types alone.
 */
export interface ResourceType<T extends KubeObject = KubeObject> extends GroupVersionResource {
  kind: string;
  namespaced: boolean;
  /** Never set: carries `T`. */
  readonly shape?: T;
}

/** `apps/v1` for `{group: 'apps', version: 'v1'}`, `v1` for the core group. */
export function formatApiVersion({ group, version }: GroupVersion): string {
  return group === '' ? version : `${group}/${version}`;
}

/** The inverse of {@link formatApiVersion}. */
export function parseApiVersion(apiVersion: string): GroupVersion {
  const slash = apiVersion.indexOf('/');
  return slash < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/** `deployments.apps`, `pods`: a resource with its group, as messages and `kubectl` name it. */
export function formatGroupResource({ group, resource }: { group: string; resource: string }): string {
  return group === '' ? resource : `${resource}.${group}`;
}

export interface ResourcePathOptions {
  namespace?: string | undefined;
  name?: string | undefined;
  subresource?: string | undefined;
}

/** The path below an API server's root: `/apis/apps/v1/namespaces/demo/deployments/web/status`. Segments are escaped. */
export function resourcePath(type: GroupVersionResource, options: ResourcePathOptions = {}): string {
  let path = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  if (options.namespace) path += `/namespaces/${encodeURIComponent(options.namespace)}`;
  path += `/${type.resource}`;
  if (options.name !== undefined) path += `/${encodeURIComponent(options.name)}`;
  if (options.subresource) path += `/${options.subresource}`;
  return path;
}

/** `namespace/name`, or `name` for a cluster-scoped object: the key of an object within its kind. */
export function objectKey(object: KubeObject): string {
  const { namespace, name = '' } = object.metadata ?? {};
  return namespace ? `${namespace}/${name}` : name;
}

/** The inverse of {@link objectKey}. */
export function splitKey(key: string): { namespace: string | undefined; name: string } {
  const slash = key.indexOf('/');
  return slash < 0
    ? { namespace: undefined, name: key }
    : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

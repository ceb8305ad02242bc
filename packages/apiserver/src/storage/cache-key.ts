/** The key within a resource, as `ResourceCache` sorts it. */
export function cacheKey(namespace: string | undefined, name: string): string {
  return namespace ? `${namespace}/${name}` : name;
}

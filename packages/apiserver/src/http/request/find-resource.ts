import type { RequestInfo } from '../../contract/request-info.ts';
import type { Registry } from '../../registry/registry.ts';
import type { ServedResource, ServedSubresource } from '../../contract/served-resource.ts';

/** The resource that a path names. A request finds it once, before its caller is known. */
export interface FoundResource {
  resource: ServedResource;
  /** Undefined also if the resource does not have the subresource that the path names. */
  subresource: ServedSubresource | undefined;
}

/** Undefined if the registry does not serve the resource. */
export function findResource(
  registry: Pick<Registry, 'find'>,
  info: Pick<RequestInfo, 'group' | 'version' | 'resource' | 'subresource'>,
): FoundResource | undefined {
  const resource = registry.find(info.group, info.version, info.resource);
  if (resource === undefined) return undefined;
  const { subresource: wanted } = info;
  return {
    resource,
    subresource: wanted === '' ? undefined : resource.subresources.find(({ name }) => name === wanted),
  };
}

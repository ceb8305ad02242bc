import type { ResourceType } from '@asterism/machinery';
import type { Registry } from './registry.ts';
import type { ServedResource } from '../contract/served-resource.ts';

/** A resource that this server is made to serve. Throws where it does not. */
export function requireResource(
  registry: Registry,
  { group, version, resource }: Pick<ResourceType, 'group' | 'version' | 'resource'>,
): ServedResource {
  const found = registry.find(group, version, resource);
  if (found === undefined) throw new Error(`${resource} are not served`);
  return found;
}

import { BUILTIN_RESOURCES, type BuiltinResource, formatGroupResource, schemaOfKind } from '@asterism/machinery';
import { ServedVersion } from '../registry/served-version.ts';
import { builtinConversion, builtinStrategy } from './builtin-strategies.ts';
import type { ServiceAllocator } from '../kinds/service/service-allocator.ts';

/** Every built-in resource with its strategy. Schemas are read when first needed. */
export function builtinResources(services: ServiceAllocator): ServedVersion[] {
  return BUILTIN_RESOURCES.map((builtin) => servedBuiltin(builtin, services));
}

function servedBuiltin(builtin: BuiltinResource, services: ServiceAllocator): ServedVersion {
  const { singular, verbs, shortNames, categories, subresources, ...type } = builtin;
  const stored = builtinConversion(`${type.group}/${type.version}/${type.resource}`);
  const groupResource = stored?.groupResource ?? formatGroupResource(type);
  return new ServedVersion({
    type,
    singular,
    verbs,
    shortNames,
    categories,
    subresources,
    storage: 'builtin',
    groupResource,
    conversion: stored?.conversion,
    strategy: builtinStrategy(groupResource, services),
    schema: () => schemaOfKind(type)?.source,
    structural: () => schemaOfKind(type),
    warning: DEPRECATIONS[groupResource],
  });
}

/** Warnings that come with every answer of a deprecated resource. */
const DEPRECATIONS: Readonly<Record<string, string>> = {
  componentstatuses: 'v1 ComponentStatus is deprecated in v1.19+',
  endpoints: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
};

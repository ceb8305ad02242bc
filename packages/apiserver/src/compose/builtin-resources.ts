import {
  BUILTIN_RESOURCES,
  type BuiltinResource,
  formatApiVersion,
  formatGroupResource,
  schemaOfKind,
} from '@asterism/machinery';
import type { Kind } from '../contract/kind.ts';
import { ServedVersion } from '../registry/served-version.ts';

/** Every built-in resource, with the rules of its kind. Schemas are read when first needed. */
export function builtinResources(kinds: readonly Kind[]): ServedVersion[] {
  return BUILTIN_RESOURCES.map((builtin) => servedBuiltin(builtin, findKind(kinds, builtin)));
}

function findKind(kinds: readonly Kind[], builtin: BuiltinResource): Kind | undefined {
  const apiVersion = formatApiVersion(builtin);
  const { resource } = builtin;
  const groupResource = formatGroupResource(builtin);
  return kinds.find(
    (kind) => kind.groupResource === groupResource || (kind.conversions?.[apiVersion] && resourceOf(kind) === resource),
  );
}

/** The plural of a kind, which is the same in all groups that serve it. */
export function resourceOf({ groupResource }: Kind): string {
  return groupResource.split('.', 1)[0] ?? '';
}

function servedBuiltin(builtin: BuiltinResource, kind: Kind | undefined): ServedVersion {
  const { singular, verbs, shortNames, categories, subresources, ...type } = builtin;
  return new ServedVersion({
    type,
    singular,
    verbs,
    shortNames,
    categories,
    subresources,
    storage: 'builtin',
    groupResource: kind?.groupResource,
    conversion: kind?.conversions?.[formatApiVersion(type)],
    strategy: kind?.strategy ?? {},
    schema: () => schemaOfKind(type)?.source,
    structural: () => schemaOfKind(type),
    warning: kind?.warning,
  });
}

import {
  BUILTIN_RESOURCES,
  type BuiltinResource,
  formatApiVersion,
  type KubeObject,
  schemaOfKind,
} from '@asterism/machinery';
import type { Conversion } from '../contract/conversion.ts';
import type { Kind, LegacyVersion } from '../contract/kind.ts';
import type { Strategy } from '../contract/strategy.ts';
import { ServedVersion } from '../registry/served-version.ts';
import { resourceOf } from './builtin-resources.ts';
import { convertedStrategy } from './converted-strategy.ts';

/**
 * The versions that Kubernetes 1.36 no longer serves, for clients that ask for them. kubectl 1.20 asks for
 * `networking.k8s.io/v1` first, so its `v1beta1` is not among them. Such clients look for a version in discovery first: only the
 * older form of discovery, which clients before 1.26 ask for, shows these versions.
 */
export function legacyResources(kinds: readonly Kind[]): ServedVersion[] {
  return kinds.flatMap((kind) => (kind.legacyVersions ?? []).map((legacy) => servedLegacy(kind, legacy)));
}

function servedLegacy(kind: Kind, legacy: LegacyVersion): ServedVersion {
  const { group, version, otherShape } = legacy;
  const today = versionOfToday(kind, group);
  const { singular, verbs, shortNames, categories, subresources, ...type } = today;
  const apiVersion = formatApiVersion({ group, version });
  const conversion = legacy.conversion ?? renamed(apiVersion, formatApiVersion(type));
  const strategy: Strategy = {
    ...kind.strategy,
    ...(legacy.defaultPropagation && { defaultPropagation: legacy.defaultPropagation }),
  };
  return new ServedVersion({
    type: { ...type, version },
    singular,
    verbs,
    shortNames,
    categories,
    subresources: subresources.map((each) => (each.group === group ? { ...each, version } : each)),
    storage: 'builtin',
    groupResource: kind.groupResource,
    conversion,
    strategy: otherShape ? convertedStrategy(strategy, conversion) : strategy,
    ...(otherShape ? {} : { schema: () => schemaOfKind(type)?.source, structural: () => schemaOfKind(type) }),
    warning: `${apiVersion} ${type.kind} is deprecated in ${legacy.deprecated}+, unavailable in ${legacy.removed}+; use ${formatApiVersion(type)} ${type.kind}`,
  });
}

/** The version of `group` that is served today; of several, the one that is stored. */
function versionOfToday(kind: Kind, group: string): BuiltinResource {
  const resource = resourceOf(kind);
  const versions = BUILTIN_RESOURCES.filter((each) => each.group === group && each.resource === resource);
  const today = versions.find((each) => !kind.conversions?.[formatApiVersion(each)]) ?? versions[0];
  if (!today) throw new Error(`${resource} of ${group} is not built in`);
  return today;
}

/** A version with the same fields. */
function renamed(apiVersion: string, stored: string): Conversion {
  return {
    fromStorage: (object: KubeObject) => ({ ...object, apiVersion }),
    toStorage: (object: KubeObject) => ({ ...object, apiVersion: stored }),
  };
}

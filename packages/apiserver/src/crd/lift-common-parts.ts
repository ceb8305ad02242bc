import { deepEqual } from '@asterism/machinery';
import type { DefinitionVersion } from './custom-resource-definition.ts';

/** The parts of a version that upstream holds once where all versions have them alike. */
export type VersionParts = Pick<
  DefinitionVersion,
  'schema' | 'subresources' | 'additionalPrinterColumns' | 'selectableFields'
>;

export interface LiftedVersions {
  /** What all versions have in common; a part that differs, or that none has, is left out. */
  common: VersionParts;
  /** The versions without what they have in common. */
  versions: DefinitionVersion[];
}

const PARTS = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'] as const;

/**
 * Versions as apiextensions' internal type has them: each part that is equal in all versions stands beside them, and its
 * faults are reported there (`spec.validation`, `spec.subresources`, …).
 */
export function liftCommonParts(versions: readonly DefinitionVersion[]): LiftedVersions {
  const [first] = versions;
  if (!first) return { common: {}, versions: [] };
  const common: VersionParts = {};
  const rest = versions.map((version) => ({ ...version }));
  for (const part of PARTS) {
    if (!versions.every((version) => isSame(version[part], first[part]))) continue;
    if (first[part] !== undefined) Object.assign(common, { [part]: first[part] });
    for (const version of rest) delete version[part];
  }
  return { common, versions: rest };
}

/** To Go an empty list is the same as none. */
function isSame(a: unknown, b: unknown): boolean {
  return deepEqual(isEmptyList(a) ? undefined : a, isEmptyList(b) ? undefined : b);
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

import { compareKubeVersions } from '@asterism/machinery';
import type { DefinitionNames, DefinitionVersion } from './custom-resource-definition.ts';

/** What every request for a deprecated version is answered besides: its own words, or which version to use instead. */
export function deprecationWarning(
  { name = '', deprecationWarning: text }: DefinitionVersion,
  { group, names, versions }: { group: string; names: DefinitionNames; versions: readonly DefinitionVersion[] },
): string {
  if (text !== undefined) return text;
  const [better] = versions
    .filter(({ served, deprecated, name: other = '' }) => served && !deprecated && compareKubeVersions(other, name) > 0)
    .map(({ name: other = '' }) => other)
    .sort((a, b) => compareKubeVersions(b, a));
  const deprecated = `${group}/${name} ${names.kind} is deprecated`;
  return better === undefined ? deprecated : `${deprecated}; use ${group}/${better} ${names.kind}`;
}

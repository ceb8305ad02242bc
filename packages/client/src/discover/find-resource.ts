import type { DiscoveredResource } from './discovery.ts';

/**
 * The resource that a word means, as kubectl reads it: a plural, a singular, a short name or a kind, alone or with its group
 * (`deployments.apps`) or version and group (`deployments.v1.apps`). A plural beats a singular, that a short name, that a
 * kind; then the preferred version, and then the server's order of groups decide.
 */
export function findResource(resources: readonly DiscoveredResource[], word: string): DiscoveredResource | undefined {
  const dot = word.indexOf('.');
  if (dot <= 0) return best(resources, word, () => true);
  const qualifier = word.slice(dot + 1);
  return best(resources, word.slice(0, dot), (resource) => qualifies(resource, qualifier));
}

/** `pods.v1` and `pods.v1.` are of the core group. */
function qualifies({ group, version }: DiscoveredResource, qualifier: string): boolean {
  return qualifier === group || qualifier === `${version}.${group}` || (group === '' && qualifier === version);
}

function best(
  resources: readonly DiscoveredResource[],
  name: string,
  admits: (resource: DiscoveredResource) => boolean,
): DiscoveredResource | undefined {
  const word = name.toLowerCase();
  let found: DiscoveredResource | undefined;
  let foundRank = Number.POSITIVE_INFINITY;
  for (const resource of resources) {
    const rank = rankOf(resource, word) + (resource.preferred ? 0 : 0.5);
    if (rank < foundRank && admits(resource)) {
      found = resource;
      foundRank = rank;
    }
  }
  return found;
}

function rankOf(resource: DiscoveredResource, word: string): number {
  if (resource.resource === word) return 0;
  if (resource.singular === word) return 1;
  if (resource.shortNames.includes(word)) return 2;
  return resource.kind.toLowerCase() === word ? 3 : Number.POSITIVE_INFINITY;
}

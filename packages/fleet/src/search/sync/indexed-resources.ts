import type { DiscoveredResource } from '@asterism/client';
import { formatGroupResource } from '@asterism/machinery';
import type { Cluster } from '../../api/index.ts';

export type IndexRule = NonNullable<Cluster['spec']['index']>[number];

/** A resource of a member that stands in the store. */
export interface IndexedResource {
  type: DiscoveredResource;
  /** Only what stands in these; absent: everything. */
  namespaces?: readonly string[];
}

/** What of a rule has no effect, and why. */
export interface IndexGap {
  /** `widgets.example.com`, as the rule has it. */
  resource: string;
  reason: string;
}

export interface IndexPlan {
  resources: IndexedResource[];
  gaps: IndexGap[];
}

const ALL = '*';

/** What a `*` never means: what nobody should read by accident, and what changes all the time and says little later. */
const BY_NAME_ALONE: ReadonlySet<string> = new Set([
  'secrets',
  'events',
  'events.events.k8s.io',
  'leases.coordination.k8s.io',
]);

/**
 * What of a member stands in the store: what its rules name and it serves, each resource in one version. That is the first of the
 * rule's versions that is served, or where the rule has none the one that the server prefers. Rules add up: a resource that one
 * rule has in every namespace is kept in every namespace, otherwise in those of all its rules together; the first of its
 * rules decides on the version.
 *
 * A resource that cannot be listed and watched is left out. So are Secrets, Events and Leases under a `*`: they have to be named.
 */
export function planIndex(rules: readonly IndexRule[], served: readonly DiscoveredResource[]): IndexPlan {
  const byName = Map.groupBy(served, formatGroupResource);
  const planned = new Map<string, IndexedResource>();
  const gaps: IndexGap[] = [];
  for (const rule of rules) {
    for (const resource of new Set(rule.resources)) {
      const named = [...byName].filter(([name, [first]]) => first && isMeant(rule, resource, first, name));
      const found = named.map(([name, versions]) => ({ name, ...choose(rule, versions) }));
      for (const { name, type } of found) if (type) planned.set(name, joined(planned.get(name), rule, type));
      if (resource === ALL || found.some(({ type }) => type)) continue;
      const reason = found[0]?.reason ?? 'the cluster does not serve it (a resource is named by its plural)';
      gaps.push({ resource: formatGroupResource({ group: rule.group, resource }), reason });
    }
  }
  return { resources: [...planned.values()], gaps };
}

function isMeant(rule: IndexRule, resource: string, served: DiscoveredResource, name: string): boolean {
  if (rule.group !== ALL && rule.group !== served.group) return false;
  return resource === served.resource || (resource === ALL && !BY_NAME_ALONE.has(name));
}

/** The version that a rule means, or why there is none. */
function choose(
  { versions: wanted, namespaces }: IndexRule,
  served: readonly DiscoveredResource[],
): { type?: DiscoveredResource; reason?: string } {
  const named = wanted?.filter((version) => version !== ALL) ?? [];
  const type =
    named.length > 0
      ? named.map((wish) => served.find(({ version }) => version === wish)).find((found) => found !== undefined)
      : (served.find(({ preferred }) => preferred) ?? served[0]);
  if (!type) return { reason: `the cluster serves it in ${served.map(({ version }) => version).join(', ')} alone` };
  if (!type.verbs.includes('list') || !type.verbs.includes('watch')) {
    return { reason: `it cannot be listed and watched in ${type.version}` };
  }
  if (namespaces && !type.namespaced) return { reason: 'it does not live in namespaces, but its rule names some' };
  return { type };
}

function joined(before: IndexedResource | undefined, rule: IndexRule, type: DiscoveredResource): IndexedResource {
  const chosen = before?.type ?? type;
  if (!rule.namespaces || (before && !before.namespaces)) return { type: chosen };
  return { type: chosen, namespaces: [...new Set([...(before?.namespaces ?? []), ...rule.namespaces])].sort() };
}

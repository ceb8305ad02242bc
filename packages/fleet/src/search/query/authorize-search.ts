import type { ExtensionContext } from '@asterism/apiserver';
import { forbidden, type GroupVersionResource } from '@asterism/machinery';
import { CLUSTERS } from '../../api/index.ts';

/** The verb that opens a cluster to search, and Secrets in it. */
const SEARCH = 'search';

export interface SearchScope extends GroupVersionResource {
  /** The clusters asked for; absent: all. */
  clusters?: readonly string[] | undefined;
  /** The namespaces asked for; absent: all. */
  namespaces?: readonly string[] | undefined;
  /** The one object asked for; otherwise a list. */
  name?: string | undefined;
}

export interface GrantedScope {
  /** The clusters that may be searched; absent: all. */
  clusters?: readonly string[];
  /** How many clusters were left out, of those that were not asked for by name. */
  leftOut: number;
}

/**
 * Whether a caller may search, decided by the RBAC of the hub. In each namespace that is asked for (or, where none is, for all
 * of them at once) the caller must be allowed
 *
 * - to `list` the resource (`get` it, for one object): the same rule that lets people see such objects in the hub;
 * - to `search` the cluster: verb `search` on `clusters.asterism.dev`, by name or all. So rights in the hub open no member by
 *   themselves, and a Role in a namespace can open that namespace of some clusters alone;
 * - for Secrets, besides, to `search` them: verb `search` on `secrets`, which no role has that does not say so.
 *
 * Never wider than asked: who may see one namespace gets a 403 for all of them. A cluster that is asked for by name and may not
 * be searched is a 403 too; where none is asked for, the ones that may not are left out, and counted.
 *
 * @param known the clusters there are, for callers who may not search all
 */
export async function authorizeSearch(
  context: Pick<ExtensionContext, 'authorize' | 'user'>,
  scope: SearchScope,
  known: () => readonly string[],
): Promise<GrantedScope> {
  for (const namespace of scope.namespaces ?? [undefined]) await requireKind(context, scope, namespace);
  const maySearch = async (cluster: string | undefined): Promise<boolean> => {
    for (const namespace of scope.namespaces ?? [undefined]) {
      if (!(await isAllowed(context, SEARCH, CLUSTERS, namespace, cluster))) return false;
    }
    return true;
  };
  if (scope.clusters) {
    for (const cluster of scope.clusters) {
      if (!(await maySearch(cluster))) throw refusal(context, SEARCH, CLUSTERS, scope.namespaces, cluster);
    }
    return { clusters: scope.clusters, leftOut: 0 };
  }
  if (await maySearch(undefined)) return { leftOut: 0 };
  const all = known();
  const clusters: string[] = [];
  for (const cluster of all) if (await maySearch(cluster)) clusters.push(cluster);
  if (clusters.length === 0) throw refusal(context, SEARCH, CLUSTERS, scope.namespaces, '');
  return { clusters, leftOut: all.length - clusters.length };
}

async function requireKind(
  context: Pick<ExtensionContext, 'authorize' | 'user'>,
  scope: SearchScope,
  namespace: string | undefined,
): Promise<void> {
  const isSecret = scope.group === '' && scope.resource === 'secrets';
  for (const verb of [scope.name === undefined ? 'list' : 'get', ...(isSecret ? [SEARCH] : [])]) {
    if (await isAllowed(context, verb, scope, namespace, scope.name)) continue;
    throw refusal(context, verb, scope, namespace === undefined ? undefined : [namespace], scope.name ?? '');
  }
}

async function isAllowed(
  { authorize }: Pick<ExtensionContext, 'authorize'>,
  verb: string,
  { group, version, resource }: GroupVersionResource,
  namespace: string | undefined,
  name: string | undefined,
): Promise<boolean> {
  const where = namespace === undefined ? {} : { namespace };
  const which = name === undefined ? {} : { name };
  return (await authorize({ verb, group, version, resource, ...where, ...which })).allowed;
}

function refusal(
  { user }: Pick<ExtensionContext, 'user'>,
  verb: string,
  type: GroupVersionResource,
  namespaces: readonly string[] | undefined,
  name: string,
) {
  const where = namespaces
    ? `in the namespace ${namespaces.map((each) => JSON.stringify(each)).join(', ')}`
    : 'at the cluster scope';
  const what = `resource ${JSON.stringify(type.resource)} in API group ${JSON.stringify(type.group)}`;
  return forbidden(type, name, `User ${JSON.stringify(user.username)} cannot ${verb} ${what} ${where}`);
}

import type {
  Kubeconfig,
  KubeconfigCluster,
  KubeconfigContext,
  KubeconfigEdit,
  KubeconfigUser,
} from '@asterism/client';
import { memberProxyPath, SEARCH_PATH } from '@asterism/fleet/api';
import { CommandError } from '../exit-code.ts';

/** A hub as its caller reaches it: the entries of a kubeconfig. */
export interface HubEntries {
  /** Of the hub itself. */
  cluster: KubeconfigCluster;
  user: KubeconfigUser;
  namespace: string | undefined;
}

export interface ContextsOptions {
  /** The context of the hub; those of search and of members begin with it: `asterism-search`, `asterism/edge-1`. */
  name: string;
  /** Members to write contexts of. */
  members: readonly string[];
  /** All members that there are: contexts of others are taken out. Undefined: they stay. */
  prune?: readonly string[] | undefined;
}

/** The server of a hub behind what leads through it: a member's API, or search. Any other server is as it was. */
export function hubServerOf(server: string): string {
  return server.replace(BELOW_HUB, '');
}

/** The path that leads to a cluster or to search: groups `proxy.asterism.dev` and `search.asterism.dev`. */
const BELOW_HUB =
  /\/apis\/(proxy\.asterism\.dev\/\w+\/clusters\/[^/]+\/proxy|search\.asterism\.dev\/\w+\/resources(\/clusters\/[^/]+)?)\/?$/;

/**
 * What has to be changed in `present` so that it has a context of the hub, one of search and one of each member. Throws where an
 * entry of such a name is of another hub: it would be lost.
 */
export function contextsEdit(present: Kubeconfig, hub: HubEntries, options: ContextsOptions): KubeconfigEdit {
  const { name, members, prune } = options;
  const server = hubServerOf(hub.cluster.server);
  const servers = new Map<string, string>([
    [name, server],
    [`${name}-search`, server + SEARCH_PATH],
    ...members.map((member): [string, string] => [`${name}/${member}`, server + memberProxyPath(member)]),
  ]);
  for (const context of servers.keys()) requireOurs(present, context, hub, name);
  const gone = prune === undefined ? [] : goneContexts(present, hub, name, prune);
  return {
    set: {
      clusters: [...servers].map(([context, address]) => ({
        name: context,
        cluster: { ...hub.cluster, server: address },
      })),
      users: [{ name, user: hub.user }],
      contexts: [...servers.keys()].map((context) => ({
        name: context,
        context: { ...settingsOf(present, context, hub), cluster: context, user: name },
      })),
    },
    remove: { clusters: gone, contexts: gone },
    currentContext: name,
  };
}

/** The namespace and whatever else somebody chose for a context that is written again. */
function settingsOf(present: Kubeconfig, name: string, { namespace }: HubEntries): Partial<KubeconfigContext> {
  const context = present.contexts.find((each) => each.name === name)?.context;
  return context ?? (namespace === undefined ? {} : { namespace });
}

function requireOurs(present: Kubeconfig, context: string, hub: HubEntries, name: string): void {
  const cluster = present.clusters.find((each) => each.name === context)?.cluster;
  if (cluster === undefined || isOfHub(cluster, hub.cluster)) return;
  throw new CommandError(
    `there is a cluster ${JSON.stringify(context)} already, at ${cluster.server}, and it is not of this hub (${hubServerOf(hub.cluster.server)}): ` +
      `call the contexts of this hub otherwise (--name, now ${JSON.stringify(name)}), or delete it (kubectl config delete-cluster ${context})`,
  );
}

/** At the same address, or, where it has moved, with the same authority. */
function isOfHub(cluster: KubeconfigCluster, hub: KubeconfigCluster): boolean {
  if (hubServerOf(cluster.server) === hubServerOf(hub.server)) return true;
  const ca = hub['certificate-authority-data'] ?? hub['certificate-authority'];
  return ca !== undefined && ca === (cluster['certificate-authority-data'] ?? cluster['certificate-authority']);
}

function goneContexts(present: Kubeconfig, hub: HubEntries, name: string, members: readonly string[]): string[] {
  return present.clusters
    .filter(({ name: context, cluster }) => {
      if (!context.startsWith(`${name}/`) || !isOfHub(cluster, hub.cluster)) return false;
      return hubServerOf(cluster.server) !== cluster.server && !members.includes(context.slice(name.length + 1));
    })
    .map(({ name: context }) => context);
}

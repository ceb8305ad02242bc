import type { Client } from '@asterism/client';
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES } from '@asterism/machinery';
import type { Rbac } from './policy-writers.ts';

/** The roles of an API server and who has them, as they are now. */
export async function readRbac(client: Client, signal: AbortSignal): Promise<Rbac> {
  const [roles, clusterRoles, bindings, clusterBindings] = await Promise.all([
    client.resource(ROLES).list({ signal }),
    client.resource(CLUSTER_ROLES).list({ signal }),
    client.resource(ROLE_BINDINGS).list({ signal }),
    client.resource(CLUSTER_ROLE_BINDINGS).list({ signal }),
  ]);
  const byName = new Map(roles.items.map((role) => [`${role.metadata?.namespace}/${role.metadata?.name}`, role]));
  const clusterRolesByName = new Map(clusterRoles.items.map((role) => [role.metadata?.name, role]));
  const byNamespace = Map.groupBy(bindings.items, ({ metadata }) => metadata?.namespace);
  return {
    clusterRole: (name) => clusterRolesByName.get(name),
    role: (namespace, name) => byName.get(`${namespace}/${name}`),
    clusterRoleBindings: () => clusterBindings.items,
    roleBindings: (namespace) => byNamespace.get(namespace) ?? [],
  };
}

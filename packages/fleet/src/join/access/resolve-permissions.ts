import type { Client } from '@asterism/client';
import {
  CLUSTER_ROLES,
  type ClusterRole,
  ifFound,
  isForbidden,
  NAMESPACES,
  type ResourceType,
  ROLE_BINDINGS,
  ROLES,
} from '@asterism/machinery';
import {
  CALLERS_ROLE,
  type Cluster,
  FIXED_CALLERS_ANNOTATION,
  MADE_BY_JOIN,
  MADE_BY_LABEL,
  SYSTEM_NAMESPACE,
} from '../../api/index.ts';
import {
  actingAccount,
  DEFAULT_PROFILE,
  isSystemNamespace,
  type Permissions,
  permittedNamespaces,
  readPermissions,
  WORKLOADS_ROLE,
} from './permissions.ts';

/**
 * The permissions that a join gives, where the administrator may have left some of them out.
 *
 * - (P1) A join that names no profile keeps the one that the member has. Joining again never widens the rights unasked.
 * - (P2) `workloads` without namespaces means all that the member has now, but those of the system. RBAC cannot exclude a namespace, so
 *   each one is bound by itself.
 * - (P3) A join that names no callers keeps those that the member has.
 */
export async function resolvePermissions(
  member: Client,
  { syncMode, given }: { syncMode: Cluster['spec']['syncMode']; given: Permissions | undefined },
  signal?: AbortSignal,
): Promise<Permissions> {
  const role = await readRole(member, actingAccount(syncMode).clusterRole, signal);
  const permissions = given ?? readPermissions(role?.metadata?.annotations) ?? { profile: DEFAULT_PROFILE };
  if (permissions.profile !== 'workloads') return permissions;
  const { namespaces = await allNamespaces(member, signal), callers = await presentCallers(member, signal) } =
    permissions;
  return { ...permissions, namespaces, callers };
}

async function readRole(member: Client, name: string, signal?: AbortSignal): Promise<ClusterRole | undefined> {
  // Whoever may not read it may not write it either, which the join reports.
  return await ifFound(member.resource(CLUSTER_ROLES).get({ name }, { signal })).catch((error: unknown) => {
    if (isForbidden(error)) return undefined;
    throw error;
  });
}

async function allNamespaces(member: Client, signal?: AbortSignal): Promise<string[]> {
  const { items } = await member.resource(NAMESPACES).list({ signal });
  return items.map(({ metadata }) => metadata?.name ?? '').filter((name) => !isSystemNamespace(name));
}

async function presentCallers(member: Client, signal?: AbortSignal): Promise<Permissions['callers']> {
  const role = await readRole(member, CALLERS_ROLE, signal);
  if (role?.metadata?.annotations?.[FIXED_CALLERS_ANNOTATION] === undefined) return undefined;
  const named = (resource: string): string[] =>
    (role.rules ?? []).flatMap(({ resources, resourceNames }) =>
      resources?.includes(resource) ? (resourceNames ?? []) : [],
    );
  return { users: named('users'), groups: named('groups') };
}

/** Removes from a member the rights of an earlier join that these permissions do not include. */
export async function removeOtherPermissions(
  member: Client,
  permissions: Permissions,
  signal?: AbortSignal,
): Promise<void> {
  const kept = new Set(permittedNamespaces(permissions));
  const labelSelector = `${MADE_BY_LABEL}=${MADE_BY_JOIN}`;
  const { items } = await member.resource(ROLE_BINDINGS).list({ labelSelector, signal });
  const remove = async (type: ResourceType, ref: { name: string; namespace?: string | undefined }): Promise<void> => {
    await ifFound(member.resource(type).delete(ref, { signal }));
  };
  for (const { metadata } of items) {
    const { name = '', namespace = '' } = metadata ?? {};
    if (name === WORKLOADS_ROLE && !kept.has(namespace)) await remove(ROLE_BINDINGS, { name, namespace });
  }
  if (permissions.profile === 'workloads') return;
  const takeOut = { name: 'asterism:take-out', namespace: SYSTEM_NAMESPACE };
  await remove(ROLE_BINDINGS, takeOut);
  await remove(ROLES, takeOut);
  await remove(CLUSTER_ROLES, { name: WORKLOADS_ROLE });
}

import { identityFault } from '@asterism/client';
import { type ClusterRole, type ClusterRoleBinding, deepEqual, parseJson, type PolicyRule } from '@asterism/machinery';
import { PROXY_GROUP } from '../api/index.ts';
import { AUTHENTICATED, SYSTEM_PREFIX } from './forwarded-identity.ts';

/** Who comes to a member through the hub, as far as the hub's RBAC names them. */
export interface Callers {
  /** By name, in order. */
  users: readonly string[];
  /** Those that callers may bring along, in order. */
  groups: readonly string[];
  /** A group may come, and whoever belongs to it cannot be listed: any user may, of whom the hub proves it. */
  anyUser: boolean;
}

export const NO_CALLERS: Callers = { users: [], groups: [], anyUser: false };

const RESOURCE = 'clusters/proxy';
/** Any method of HTTP comes as one of these. */
const VERBS: ReadonlySet<string> = new Set(['*', 'create', 'delete', 'get', 'patch', 'update']);

/** Whether the rule gives `clusters/proxy` of some cluster. */
export function opensProxy({ apiGroups = [], resources = [], verbs }: PolicyRule): boolean {
  return (
    apiGroups.some((group) => group === '*' || group === PROXY_GROUP) &&
    resources.some((resource) => resource === '*' || resource === RESOURCE || resource === '*/proxy') &&
    verbs.some((verb) => VERBS.has(verb))
  );
}

export interface CallersOptions {
  /** The rules of a ClusterRole; aggregated ones have theirs written into them. */
  roleOf: (name: string) => Pick<ClusterRole, 'rules'> | undefined;
  further?: readonly string[] | undefined;
  admitted?: readonly string[] | undefined;
}

/**
 * Who may use `clusters/proxy` of the cluster, by the RBAC of the hub.
 *
 * - (C1) ClusterRoleBindings count alone: clusters are in no namespace, and a RoleBinding gives nothing there.
 * - (C2) Users and groups `system:…` are the hub's own and go nowhere, so they make nobody a caller. `system:masters` neither: it
 *   is bound to everything everywhere, and counting it would open every member to any name. `system:authenticated` means any user.
 * - (C3) A group that may come makes any user a caller, because nobody can list its users. Groups still go by name.
 * - (C4) `further` groups go along with callers, and make nobody one.
 * - (C6) A name that no header carries unchanged is nobody's in a member: calls in that name are refused.
 * - (C5) `admitted` are users who were let in by something else, and are callers by name.
 */
export function callersOf(
  clusterName: string,
  bindings: readonly Pick<ClusterRoleBinding, 'roleRef' | 'subjects'>[],
  { roleOf, further = [], admitted = [] }: CallersOptions,
): Callers {
  const users = new Set(admitted);
  const groups = new Set<string>();
  let anyUser = false;
  const reaches = (rule: PolicyRule): boolean =>
    opensProxy(rule) && (!rule.resourceNames?.length || rule.resourceNames.includes(clusterName));
  for (const { roleRef, subjects } of bindings) {
    if (roleRef.kind !== 'ClusterRole' || !roleOf(roleRef.name)?.rules?.some(reaches)) continue;
    for (const { kind, name } of subjects ?? []) {
      if (kind === 'Group' && name === AUTHENTICATED) anyUser = true;
      else if (name.startsWith(SYSTEM_PREFIX) || identityFault({ user: name }) !== undefined) continue;
      else if (kind === 'User') users.add(name);
      else if (kind === 'Group') groups.add(name);
    }
  }
  anyUser ||= groups.size > 0;
  if (users.size === 0 && !anyUser) return NO_CALLERS;
  for (const group of further) {
    if (!group.startsWith(SYSTEM_PREFIX) && identityFault({ user: group }) === undefined) groups.add(group);
  }
  return { users: anyUser ? [] : [...users].sort(), groups: [...groups].sort(), anyUser };
}

/**
 * The rules by which a member lets its agent, or the hub, come as the callers, and as nobody else. `uids` and extras cannot be
 * listed; in the member's RBAC they count for nothing.
 */
export function impersonationRules({ users, groups, anyUser }: Callers): PolicyRule[] {
  if (users.length === 0 && !anyUser) return [];
  const impersonate = (group: string, resource: string, names: readonly string[] = []): PolicyRule => ({
    apiGroups: [group],
    resources: [resource],
    verbs: ['impersonate'],
    ...(names.length === 0 ? {} : { resourceNames: [...names] }),
  });
  return [
    impersonate('', 'users', anyUser ? [] : users),
    ...(groups.length === 0 ? [] : [impersonate('', 'groups', groups)]),
    impersonate('authentication.k8s.io', '*'),
  ];
}

export function sameCallers(a: Callers, b: Callers): boolean {
  return deepEqual(a, b);
}

export function formatCallers(callers: Callers): string {
  return JSON.stringify(callers);
}

/** Undefined where it is not what {@link formatCallers} writes. Names of the system's are left out, whoever wrote them. */
export function parseCallers(text: string | undefined): Callers | undefined {
  if (text === undefined) return undefined;
  let read: unknown;
  try {
    read = parseJson(text);
  } catch {
    return undefined;
  }
  if (typeof read !== 'object' || read === null) return undefined;
  const { users, groups, anyUser } = read as Record<string, unknown>;
  const own = (names: unknown): string[] | undefined =>
    Array.isArray(names) && names.every((name) => typeof name === 'string')
      ? names.filter((name) => !name.startsWith(SYSTEM_PREFIX) && identityFault({ user: name }) === undefined)
      : undefined;
  const [some, others] = [own(users), own(groups)];
  if (!some || !others || typeof anyUser !== 'boolean') return undefined;
  return { users: some, groups: others, anyUser };
}

/** Of a ClusterRole nothing but its rules for the proxy; most have none. */
export function onlyProxyRules(role: ClusterRole): ClusterRole {
  // Without a rule some servers write `null`.
  const { apiVersion, kind, metadata, rules } = role;
  return { apiVersion, kind, metadata: bareMeta(metadata), rules: (rules ?? []).filter(opensProxy) } as ClusterRole;
}

export function onlySubjects({
  apiVersion,
  kind,
  metadata,
  roleRef,
  subjects,
}: ClusterRoleBinding): ClusterRoleBinding {
  return { apiVersion, kind, metadata: bareMeta(metadata), roleRef, subjects } as ClusterRoleBinding;
}

function bareMeta({ name, uid, resourceVersion }: ClusterRole['metadata'] = {}) {
  return { name, uid, resourceVersion };
}

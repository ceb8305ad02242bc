import type { ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding } from '@asterism/machinery';
import { CLUSTER_PROPAGATION_POLICIES, GROUP, PROPAGATION_POLICIES } from '../../api/index.ts';
import { groupSubject, serviceAccountSubject, type Subject, userSubject } from './subject.ts';

/** The roles of an API server, and who has them. */
export interface Rbac {
  clusterRole(name: string): ClusterRole | undefined;
  role(namespace: string, name: string): Role | undefined;
  clusterRoleBindings(): readonly ClusterRoleBinding[];
  /** Of one namespace. */
  roleBindings(namespace: string): readonly RoleBinding[];
}

type RbacSubject = NonNullable<RoleBinding['subjects']>[number];

const WRITES: ReadonlySet<string> = new Set(['create', 'update', 'patch', '*']);

/**
 * Everybody to whom RBAC gives the writing of propagation policies: in a namespace, or (`undefined`) of those of the cluster. A policy
 * whose author nobody has recorded was written by one of them.
 *
 * The control plane's own identities are left out: they write no policies, though some of them may write every object.
 */
export function policyWriters(rbac: Rbac, namespace: string | undefined): Subject[] {
  const { resource } = namespace === undefined ? CLUSTER_PROPAGATION_POLICIES : PROPAGATION_POLICIES;
  const grants = (rules: readonly PolicyRule[] | undefined): boolean =>
    (rules ?? []).some((rule) => writes(rule, resource));
  const found: RbacSubject[] = [];
  for (const { roleRef, subjects = [] } of rbac.clusterRoleBindings()) {
    if (grants(rbac.clusterRole(roleRef.name)?.rules)) found.push(...subjects);
  }
  if (namespace === undefined) return distinct(found);
  for (const { roleRef, subjects = [] } of rbac.roleBindings(namespace)) {
    const { rules } =
      (roleRef.kind === 'ClusterRole' ? rbac.clusterRole(roleRef.name) : rbac.role(namespace, roleRef.name)) ?? {};
    if (grants(rules)) found.push(...subjects);
  }
  return distinct(found);
}

/** Each once, in an order that does not depend on that of the bindings. */
function distinct(subjects: readonly RbacSubject[]): Subject[] {
  const byKey = new Map(subjects.filter((subject) => !isControlPlane(subject)).map((each) => [keyOf(each), each]));
  return [...byKey].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => subjectOf(each));
}

function writes({ apiGroups = [], resources = [], verbs }: PolicyRule, resource: string): boolean {
  return (
    (apiGroups.includes(GROUP) || apiGroups.includes('*')) &&
    (resources.includes(resource) || resources.includes('*')) &&
    verbs.some((verb) => WRITES.has(verb))
  );
}

function isControlPlane({ kind, name, namespace }: RbacSubject): boolean {
  if (kind === 'ServiceAccount') return namespace === 'kube-system';
  if (kind === 'Group') return name === 'system:masters';
  return name.startsWith('system:') && name !== 'system:anonymous' && !isForeignServiceAccount(name);
}

function isForeignServiceAccount(name: string): boolean {
  return name.startsWith('system:serviceaccount:') && !name.startsWith('system:serviceaccount:kube-system:');
}

function keyOf({ kind, namespace = '', name }: RbacSubject): string {
  return kind === 'ServiceAccount' ? `${kind}/${namespace}/${name}` : `${kind}/${name}`;
}

function subjectOf({ kind, namespace = '', name }: RbacSubject): Subject {
  if (kind === 'ServiceAccount') return serviceAccountSubject(namespace, name);
  return kind === 'Group' ? groupSubject(name) : userSubject(name);
}

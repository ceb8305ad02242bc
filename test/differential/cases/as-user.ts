import type { RecordedRequest } from '../../conformance/scenario.ts';
import type { NewerAnswer, RequestStep, UntilStep } from '../differential-case.ts';
import type { Fields } from '../objects/generated-kind.ts';

export const RBAC = '/apis/rbac.authorization.k8s.io/v1';
export const RBAC_GROUP = 'rbac.authorization.k8s.io';

type More = Partial<Pick<RecordedRequest, 'user' | 'headers' | 'query'>>;

/** A request of anybody; `more.user` is the name before `-token`. */
export function ask(method: string, path: string, body?: unknown, more: More = {}): RequestStep {
  return { request: { method, path, ...(body === undefined ? {} : { body }), ...more } };
}

/** The same where 1.20 answers otherwise. */
export function since(step: RequestStep, newer: NewerAnswer): RequestStep {
  return { ...step, since: newer };
}

export function rule(
  apiGroups: readonly string[],
  resources: readonly string[],
  verbs: readonly string[],
  more: Fields = {},
): Fields {
  return { apiGroups, resources, verbs, ...more };
}

export function role(name: string, rules: readonly Fields[], kind: 'Role' | 'ClusterRole' = 'Role'): Fields {
  return { apiVersion: `${RBAC_GROUP}/v1`, kind, metadata: { name }, rules };
}

export function userSubject(name: string): Fields {
  return { kind: 'User', name, apiGroup: RBAC_GROUP };
}

/** A binding of the same name as the role, unless it has another. */
export function binding(
  roleKind: 'Role' | 'ClusterRole',
  roleName: string,
  subjects: readonly Fields[],
  name = roleName,
): Fields {
  return {
    apiVersion: `${RBAC_GROUP}/v1`,
    kind: 'RoleBinding',
    metadata: { name },
    roleRef: { kind: roleKind, name: roleName, apiGroup: RBAC_GROUP },
    subjects,
  };
}

export function clusterBinding(name: string, roleName: string, subjects: readonly Fields[]): Fields {
  return { ...binding('ClusterRole', roleName, subjects, name), kind: 'ClusterRoleBinding' };
}

export function inNamespace(namespace: string, resource: string): string {
  return `${RBAC}/namespaces/${namespace}/${resource}`;
}

/** Waits until a right holds: the real server hears of roles by a watch of its own. */
export function untilAllowed(who: { user?: string; groups?: readonly string[] }, attributes: Fields): UntilStep {
  const kind = 'path' in attributes ? 'nonResourceAttributes' : 'resourceAttributes';
  const spec = { ...who, [kind]: attributes };
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
  const request = { method: 'POST', path: '/apis/authorization.k8s.io/v1/subjectaccessreviews', body };
  return { until: { request, status: 201, body: { status: { allowed: true } } } };
}

/** `subject: what`, for each. */
export function combinationsOf(subject: string, whats: readonly string[]): string[] {
  return whats.map((what) => `${subject}: ${what}`);
}

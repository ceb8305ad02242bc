import type { Client } from '@asterism/client';
import { ROLE_BINDINGS, ROLES } from '@asterism/machinery';
import type { PolicyRule } from '../policy-rule.ts';

export const alice = { username: 'alice', groups: ['devs'] };
export const RBAC = 'rbac.authorization.k8s.io';
export const roleRules = [
  { apiGroups: [RBAC], resources: ['roles', 'rolebindings'], verbs: ['create', 'update', 'patch', 'get'] },
];

/** A role and its binding in `default`, for alice. */
export async function grant(client: Client, name: string, rules: PolicyRule[]): Promise<void> {
  const metadata = { name, namespace: 'default' };
  await client.resource(ROLES).create({ metadata, rules });
  await client.resource(ROLE_BINDINGS).create({ metadata, ...bindingTo(name) });
}

export function bindingTo(role: string, kind = 'Role', user = 'alice') {
  return { roleRef: { apiGroup: RBAC, kind, name: role }, subjects: [{ apiGroup: RBAC, kind: 'User', name: user }] };
}

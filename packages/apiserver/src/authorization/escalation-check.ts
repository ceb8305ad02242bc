import { failure, type KubeObject } from '@asterism/machinery';
import { SYSTEM_MASTERS, type UserInfo } from '../authentication/user-info.ts';
import type { AdmissionRequest, AdmissionStep } from '../registry/registry.ts';
import type { AuthorizationAttributes, Authorizer } from './authorizer.ts';
import { describeRules, uncoveredRules } from './cover-rules.ts';
import type { PolicyRule } from './policy-rule.ts';
import type { RbacAuthorizer } from './rbac-authorizer.ts';
import type { RoleRef } from './rbac-index.ts';

const GROUP = 'rbac.authorization.k8s.io';
const ROLES = new Set(['roles', 'clusterroles']);
const BINDINGS = new Set(['rolebindings', 'clusterrolebindings']);

/**
 * Nobody gives away what he does not have: whoever writes a role must hold its rules, or may `escalate` it; whoever binds a
 * role must hold its rules, or may `bind` it (upstream's `rbac/policybased`).
 */
export function createEscalationCheck(rbac: RbacAuthorizer, authorizer: Authorizer): AdmissionStep {
  const isAllowed = async (attributes: AuthorizationAttributes): Promise<boolean> =>
    (await authorizer.authorize(attributes)).allowed;

  const check = async (request: AdmissionRequest, wanted: readonly PolicyRule[]): Promise<void> => {
    const { rules, missing } = rbac.rulesFor(request.user, request.namespace ?? '');
    const uncovered = uncoveredRules(rules, wanted);
    if (uncovered.length === 0) return;
    throw escalation(request, describeRules(uncovered), missing);
  };

  const checkRole = async (request: AdmissionRequest, role: KubeObject): Promise<void> => {
    const rules = rulesOf(role);
    const aggregated = role.aggregationRule !== undefined && role.aggregationRule !== null;
    if (request.oldObject !== undefined && sameRules(request.oldObject, role)) return;
    if (await isAllowed(attributesFor(request, 'escalate', request.resource.type.resource, request.name))) return;
    await check(request, aggregated ? [...rules, EVERYTHING, EVERY_URL] : rules);
  };

  const checkBinding = async (request: AdmissionRequest, binding: KubeObject): Promise<void> => {
    const roleRef = binding.roleRef as RoleRef | undefined;
    if (roleRef === undefined) return;
    const resource = roleRef.kind === 'ClusterRole' ? 'clusterroles' : 'roles';
    if (await isAllowed(attributesFor(request, 'bind', resource, roleRef.name))) return;
    const rules = rbac.rulesOf(roleRef, request.namespace ?? '');
    if (rules === undefined) {
      throw failure(404, `${resource}.${GROUP} ${JSON.stringify(roleRef.name)} not found`, {
        details: { name: roleRef.name, group: GROUP, kind: resource },
      });
    }
    await check(request, rules);
  };

  return {
    phase: 'check',
    admit: async (request) => {
      const { object, operation, resource, user } = request;
      if (object === undefined || operation === 'DELETE' || resource.type.group !== GROUP) return object;
      if (user.groups.includes(SYSTEM_MASTERS)) return object;
      if (ROLES.has(resource.type.resource)) await checkRole(request, object);
      if (BINDINGS.has(resource.type.resource)) await checkBinding(request, object);
      return object;
    },
  };
}

/** What an aggregated role may come to hold: whatever somebody labels so. */
const EVERYTHING: PolicyRule = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };
const EVERY_URL: PolicyRule = { nonResourceURLs: ['*'], verbs: ['*'] };

function rulesOf(role: KubeObject): PolicyRule[] {
  return (role.rules as PolicyRule[] | null | undefined) ?? [];
}

/** A write that leaves the rules as they are grants nothing. */
function sameRules(before: KubeObject, after: KubeObject): boolean {
  const rules = (role: KubeObject): string => JSON.stringify([rulesOf(role), role.aggregationRule ?? null]);
  return rules(before) === rules(after);
}

function attributesFor(
  request: AdmissionRequest,
  verb: string,
  resource: string,
  name: string,
): AuthorizationAttributes {
  const { user, namespace = '' } = request;
  return { user, verb, group: GROUP, version: request.resource.type.version, resource, namespace, name };
}

function escalation({ user, resource, name }: AdmissionRequest, rules: readonly string[], missing: readonly string[]) {
  const { group, resource: kind } = resource.type;
  const resolution = missing.length === 0 ? '' : `; resolution errors: [${missing.join(' ')}]`;
  const why = `user ${describeUser(user)} is attempting to grant RBAC permissions not currently held:\n${rules.join('\n')}${resolution}`;
  return failure(403, `${kind}.${group} ${JSON.stringify(name)} is forbidden: ${why}`, {
    details: { name, group, kind },
  });
}

function describeUser({ username, groups }: UserInfo): string {
  return `${JSON.stringify(username)} (groups=[${groups.map((group) => JSON.stringify(group)).join(' ')}])`;
}

import { failure, type KubeObject } from '@asterism/machinery';
import { SYSTEM_MASTERS, type UserInfo } from '../contract/user-info.ts';
import type { AuthorizationAttributes, Authorizer } from '../contract/authorizer.ts';
import { changesOnlyReferences } from './changes-only-references.ts';
import { describeRules, uncoveredRules } from './cover-rules.ts';
import type { PolicyRule } from './policy-rule.ts';
import type { RbacAuthorizer } from './rbac-authorizer.ts';
import type { RoleRef } from './rbac-index.ts';
import type { AdmissionRequest, AdmissionStep } from '../contract/admission-step.ts';

const GROUP = 'rbac.authorization.k8s.io';
const ROLES = new Set(['roles', 'clusterroles']);
const BINDINGS = new Set(['rolebindings', 'clusterrolebindings']);

/**
 * A caller cannot grant rights that they do not have (upstream's `rbac/policybased`).
 *
 * E1  To write a role, the caller needs every rule in it, or the verb `escalate`. This holds for each update, also one of labels
 *     alone: a label can hand the rules to an aggregated role.
 * E2  To write a binding, the caller needs every rule of its role, or the verb `bind`.
 * E3  An update that changes nothing but finalizers and owner references needs neither.
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
    // A role that is created has no name yet for authorization, as upstream.
    const name = request.operation === 'CREATE' ? '' : request.name;
    if (await isAllowed(attributesFor(request, 'escalate', request.resource.type.resource, name))) return;
    await check(request, rulesOf(role));
    if (!isAggregated(role) && !isAggregated(request.oldObject)) return;
    const { rules } = rbac.rulesFor(request.user, request.namespace ?? '');
    if (uncoveredRules(rules, EVERYTHING).length === 0) return;
    throw refusal(request, 'must have cluster-admin privileges to use the aggregationRule');
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
      if (request.oldObject !== undefined && changesOnlyReferences(object, request.oldObject)) return object;
      if (ROLES.has(resource.type.resource)) await checkRole(request, object);
      if (BINDINGS.has(resource.type.resource)) await checkBinding(request, object);
      return object;
    },
  };
}

/** An aggregated role can come to hold every rule, as a label on another role is enough. */
const EVERYTHING: readonly PolicyRule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] },
];

function rulesOf(role: KubeObject): PolicyRule[] {
  return (role.rules as PolicyRule[] | null | undefined) ?? [];
}

/** Without selectors it gathers nothing, and validation refuses it. */
function isAggregated(role: KubeObject | undefined): boolean {
  const rule = role?.aggregationRule as { clusterRoleSelectors?: unknown[] | null } | null | undefined;
  return (rule?.clusterRoleSelectors?.length ?? 0) > 0;
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

function escalation(request: AdmissionRequest, rules: readonly string[], missing: readonly string[]) {
  const resolution = missing.length === 0 ? '' : `; resolution errors: [${missing.join(' ')}]`;
  const why = `user ${describeUser(request.user)} is attempting to grant RBAC permissions not currently held:\n${rules.join('\n')}${resolution}`;
  return refusal(request, why);
}

function refusal({ resource, name }: AdmissionRequest, why: string) {
  const { group, resource: kind } = resource.type;
  return failure(403, `${kind}.${group} ${JSON.stringify(name)} is forbidden: ${why}`, {
    details: { name, group, kind },
  });
}

function describeUser({ username, groups }: UserInfo): string {
  return `${JSON.stringify(username)} (groups=[${groups.map((group) => JSON.stringify(group)).join(' ')}])`;
}

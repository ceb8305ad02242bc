import { SYSTEM_MASTERS, type UserInfo } from '../contract/user-info.ts';
import type { AuthorizationAttributes, AuthorizationDecision, Authorizer } from '../contract/authorizer.ts';
import { type PolicyRule, ruleAllows } from './policy-rule.ts';
import type { RbacIndex, RoleRef, SubjectBinding } from './rbac-index.ts';

/** What a user's roles add up to, and the roles that bindings name but that do not exist. */
export interface ResolvedRules {
  rules: PolicyRule[];
  missing: string[];
}

/** Allows what a role allows that is bound to the user or one of his groups; `system:masters` may do everything. */
export class RbacAuthorizer implements Authorizer {
  readonly #index: RbacIndex;

  constructor(index: RbacIndex) {
    this.#index = index;
  }

  authorize(attributes: AuthorizationAttributes): AuthorizationDecision {
    const { user, namespace = '' } = attributes;
    if (user.groups.includes(SYSTEM_MASTERS)) return { allowed: true, reason: '' };
    let missing: Set<string> | undefined;
    for (const binding of this.#index.bindingsOf(user, attributes.resource === undefined ? '' : namespace)) {
      const { rules } = binding.role;
      if (rules === undefined) (missing ??= new Set()).add(describeMissing(binding.roleRef));
      else if (rules.some((rule) => ruleAllows(rule, attributes))) return { allowed: true, reason: describe(binding) };
    }
    return { allowed: false, reason: missing ? `RBAC: ${describeAll([...missing])}` : '' };
  }

  /** Every rule that holds for a user in a namespace ('' for the whole cluster). */
  rulesFor(user: UserInfo, namespace: string): ResolvedRules {
    const rules: PolicyRule[] = [];
    const missing = new Set<string>();
    for (const binding of this.#index.bindingsOf(user, namespace)) {
      const found = binding.role.rules;
      if (found === undefined) missing.add(describeMissing(binding.roleRef));
      else rules.push(...found);
    }
    return { rules, missing: [...missing] };
  }

  /** The rules of a role as a binding in `namespace` refers to it; undefined where it does not exist. */
  rulesOf(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    return this.#index.rules(roleRef, namespace);
  }
}

function describe({ namespace, name, roleRef, subject }: SubjectBinding): string {
  const binding = namespace === '' ? `ClusterRoleBinding "${name}"` : `RoleBinding "${name}/${namespace}"`;
  const who = subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace || namespace}` : subject.name;
  return `RBAC: allowed by ${binding} of ${roleRef.kind} "${roleRef.name}" to ${subject.kind} "${who}"`;
}

function describeMissing({ kind, name }: RoleRef): string {
  return `${kind.toLowerCase()}.rbac.authorization.k8s.io "${name}" not found`;
}

function describeAll(errors: readonly string[]): string {
  return errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]`;
}

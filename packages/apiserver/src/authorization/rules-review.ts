import { badRequest } from '@asterism/machinery';
import { SYSTEM_MASTERS } from '../contract/user-info.ts';
import type { Creation } from '../contract/creation.ts';
import { uncoveredRules } from './cover-rules.ts';
import { nodeNameOf } from '../contract/node-identity.ts';
import type { PolicyRule } from './policy-rule.ts';
import type { RbacAuthorizer } from './rbac-authorizer.ts';

const NO_RULES_OF_NODES = 'node authorizer does not support user rule resolution';

const EVERYTHING: PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

/** `SelfSubjectRulesReview`: what the caller may do in a namespace, as `kubectl auth can-i --list` shows it. */
export function createSelfSubjectRulesReview(rbac: RbacAuthorizer | undefined): Creation {
  return ({ object, user }) => {
    const { namespace } = (object.spec ?? {}) as { namespace?: string };
    if (!namespace) throw badRequest('no namespace on request');
    const all = rbac === undefined || user.groups.includes(SYSTEM_MASTERS);
    const { rules: found, missing } = rbac?.rulesFor(user, namespace) ?? { rules: [], missing: [] };
    const rules = all && uncoveredRules(found, EVERYTHING).length > 0 ? [...EVERYTHING, ...found] : found;
    // What a node may do follows from its pods, and not from rules.
    const isNode = rbac !== undefined && nodeNameOf(user) !== undefined;
    const errors = isNode ? [NO_RULES_OF_NODES, ...missing] : missing;
    const status = {
      resourceRules: rules
        .filter(({ resources = [] }) => resources.length > 0)
        .map(({ verbs, apiGroups = [], resources = [], resourceNames = [] }) => ({
          verbs,
          apiGroups,
          resources,
          ...(resourceNames.length > 0 ? { resourceNames } : {}),
        })),
      nonResourceRules: rules
        .filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0)
        .map(({ verbs, nonResourceURLs = [] }) => ({ verbs, nonResourceURLs })),
      incomplete: errors.length > 0,
      ...(errors.length > 0 ? { evaluationError: errors.join(', ') } : {}),
    };
    const { kind, apiVersion } = object;
    // Upstream answers a new object: nothing of what was posted is in it.
    return Promise.resolve({ kind: kind!, apiVersion: apiVersion!, metadata: {}, spec: {}, status });
  };
}

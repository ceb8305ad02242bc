import type { UserInfo } from '../contract/user-info.ts';
import type { RequestInfo } from '../contract/request-info.ts';
import type { AuditedResources, AuditLevel, AuditPolicy, AuditRule, AuditStage } from './audit-policy.ts';

/** What a policy wants to know of one request. */
export interface AuditConfig {
  level: AuditLevel;
  omitStages: ReadonlySet<AuditStage>;
  omitManagedFields: boolean;
}

/** Finds the first rule of a policy that a request fits; `None` where none does. Upstream's `policyRuleEvaluator`. */
export function ruleMatcher(policy: AuditPolicy): (user: UserInfo | undefined, info: RequestInfo) => AuditConfig {
  const configOf = (level: AuditLevel, rule?: AuditRule): AuditConfig => ({
    level,
    omitStages: new Set([...(policy.omitStages ?? []), ...(rule?.omitStages ?? [])]),
    omitManagedFields: rule?.omitManagedFields ?? policy.omitManagedFields ?? false,
  });
  const rules = policy.rules.map((rule) => ({ rule, config: configOf(rule.level, rule) }));
  const otherwise = configOf('None');
  return (user, info) => rules.find(({ rule }) => matches(rule, user, info))?.config ?? otherwise;
}

function matches(rule: AuditRule, user: UserInfo | undefined, info: RequestInfo): boolean {
  const { users = [], userGroups = [], verbs = [], namespaces = [], resources = [], nonResourceURLs = [] } = rule;
  if (users.length > 0 && (user === undefined || !users.includes(user.username))) return false;
  if (userGroups.length > 0 && !user?.groups.some((group) => userGroups.includes(group))) return false;
  if (verbs.length > 0 && !verbs.includes(info.verb)) return false;
  if (namespaces.length > 0 || resources.length > 0) {
    if (!info.isResource) return false;
    if (namespaces.length > 0 && !namespaces.includes(info.namespace)) return false;
    return resources.length === 0 || resources.some((each) => matchesResources(each, info));
  }
  if (nonResourceURLs.length === 0) return true;
  return !info.isResource && nonResourceURLs.some((url) => matchesPath(url, info.path));
}

function matchesResources(
  { group = '', resources = [], resourceNames = [] }: AuditedResources,
  info: RequestInfo,
): boolean {
  if (group !== info.group) return false;
  if (resources.length === 0) return true;
  if (resourceNames.length > 0 && !resourceNames.includes(info.name)) return false;
  const { resource, subresource } = info;
  const whole = subresource === '' ? resource : `${resource}/${subresource}`;
  return resources.some(
    (each) =>
      each === '*' ||
      each === whole ||
      (subresource !== '' && each === `*/${subresource}`) ||
      // Upstream takes the resource itself for one of its subresources here.
      each === `${resource}/*`,
  );
}

function matchesPath(url: string, path: string): boolean {
  return url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1)));
}

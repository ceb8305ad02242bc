import type { AuthorizationAttributes } from '../contract/authorizer.ts';

/** `rbac.authorization.k8s.io/v1` PolicyRule. */
export interface PolicyRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

const ALL = '*';

/** Whether a rule allows a request (upstream's `RuleAllows`). */
export function ruleAllows(rule: PolicyRule, attributes: AuthorizationAttributes): boolean {
  if (!has(rule.verbs, attributes.verb)) return false;
  if (attributes.resource === undefined) return nonResourceMatches(rule.nonResourceURLs ?? [], attributes.path ?? '');
  return (
    has(rule.apiGroups ?? [], attributes.group ?? '') &&
    resourceMatches(rule.resources ?? [], attributes.resource, attributes.subresource ?? '') &&
    nameMatches(rule.resourceNames ?? [], attributes.name ?? '')
  );
}

function has(values: readonly string[], wanted: string): boolean {
  return values.includes(wanted) || values.includes(ALL);
}

/** `pods`, `pods/log`, `*`, and a star before a slash for one subresource of everything. */
export function resourceMatches(resources: readonly string[], resource: string, subresource: string): boolean {
  const wanted = subresource === '' ? resource : `${resource}/${subresource}`;
  return resources.some(
    (value) => value === ALL || value === wanted || (subresource !== '' && value === `${ALL}/${subresource}`),
  );
}

/** No names mean any; a request without a name is met by no name. */
function nameMatches(names: readonly string[], name: string): boolean {
  return names.length === 0 || names.includes(name);
}

/** Exact, or everything behind a trailing `*`. */
export function nonResourceMatches(urls: readonly string[], path: string): boolean {
  return urls.some((url) => url === ALL || url === path || (url.endsWith(ALL) && path.startsWith(url.slice(0, -1))));
}

import type { ResourceType, RuleWithOperations } from '@asterism/machinery';
import type { AdmissionAttributes } from '../registry/admission-attributes.ts';

/** Whether a webhook's rule is about a request, seen as one for `type`. */
export function matchesRule(
  rule: RuleWithOperations,
  type: ResourceType,
  request: Pick<AdmissionAttributes, 'operation' | 'subresource' | 'namespace'>,
): boolean {
  return (
    hasScope(rule, type, request.namespace) &&
    includes(rule.operations, request.operation) &&
    includes(rule.apiGroups, type.group) &&
    includes(rule.apiVersions, type.version) &&
    (rule.resources ?? []).some((each) => matchesResource(each, type.resource, request.subresource))
  );
}

function includes(values: readonly string[] | undefined, value: string): boolean {
  return values?.some((each) => each === '*' || each === value) ?? false;
}

/** `pods`, `pods/status`, `pods/*`, `*`, `*\/status`, `*\/*`. */
function matchesResource(pattern: string, resource: string, subresource: string): boolean {
  const slash = pattern.indexOf('/');
  const [main, sub] = slash < 0 ? [pattern, ''] : [pattern.slice(0, slash), pattern.slice(slash + 1)];
  return (main === '*' || main === resource) && (sub === '*' || sub === subresource);
}

/** A Namespace counts as cluster-scoped, though a request for one has a namespace: itself. */
function hasScope({ scope = '*' }: RuleWithOperations, type: ResourceType, namespace: string): boolean {
  if (scope === '*') return true;
  const isCluster = namespace === '' || (type.group === '' && type.resource === 'namespaces');
  return scope === 'Cluster' ? isCluster : scope === 'Namespaced' && !isCluster;
}

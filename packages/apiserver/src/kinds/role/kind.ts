import { type FieldError, fieldRequired, type KubeObject, validatePathSegmentName } from '@asterism/machinery';
import { type Fields, listAt, optionalFields, textsAt } from '../fields/draft-fields.ts';
import { labelSelectorFaults } from '../validation/validate-label-selector.ts';
import { invalidValue } from '../../registry/invalid-value.ts';
import type { Strategy } from '../../contract/strategy.ts';
import type { Kind } from '../../contract/kind.ts';

/** Of Roles and ClusterRoles. */
const roleStrategy: Strategy = {
  createOnUpdate: true,
  metadataChecks: 4,
  validateName: validatePathSegmentName,
  validate: (object) => [
    ...listAt(object, 'rules').flatMap((rule, index) => validateRule(rule, `rules[${index}]`, object.kind === 'Role')),
    ...validateAggregation(object),
  ],
};

export const roleKinds: readonly Kind[] = [
  { groupResource: 'clusterroles.rbac.authorization.k8s.io', strategy: roleStrategy },
  { groupResource: 'roles.rbac.authorization.k8s.io', strategy: roleStrategy },
];

function validateRule(rule: Fields, at: string, isNamespaced: boolean): FieldError[] {
  const faults: FieldError[] = [];
  const has = (key: string): boolean => textsAt(rule, key).length > 0;
  const urls = textsAt(rule, 'nonResourceURLs');
  if (!has('verbs')) faults.push(fieldRequired(`${at}.verbs`, 'verbs must contain at least one value'));
  if (urls.length > 0) {
    const fault = (detail: string): FieldError => invalidValue(`${at}.nonResourceURLs`, urls, detail);
    if (isNamespaced) faults.push(fault('namespaced rules cannot apply to non-resource URLs'));
    if (has('apiGroups') || has('resources') || has('resourceNames'))
      faults.push(fault('rules cannot apply to both regular resources and non-resource URLs'));
    return faults;
  }
  if (!has('apiGroups'))
    faults.push(fieldRequired(`${at}.apiGroups`, 'resource rules must supply at least one api group'));
  if (!has('resources'))
    faults.push(fieldRequired(`${at}.resources`, 'resource rules must supply at least one resource'));
  return faults;
}

function validateAggregation(object: KubeObject): FieldError[] {
  const rule = optionalFields(object, 'aggregationRule');
  if (!rule || object.kind === 'Role') return [];
  const at = 'aggregationRule.clusterRoleSelectors';
  const selectors = listAt(rule, 'clusterRoleSelectors');
  if (selectors.length === 0)
    return [fieldRequired(at, 'at least one clusterRoleSelector required if aggregationRule is non-nil')];
  return selectors.flatMap((selector, index) => labelSelectorFaults(selector, `${at}[${index}]`));
}

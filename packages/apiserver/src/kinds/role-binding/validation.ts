import {
  type FieldError,
  fieldNotSupported,
  fieldRequired,
  type KubeObject,
  validateDns1123Subdomain,
  validatePathSegmentName,
} from '@asterism/machinery';
import { type Fields, optionalFields, textAt } from '../fields/draft-fields.ts';
import { invalidValues } from '../validation/name-formats.ts';

export const RBAC = 'rbac.authorization.k8s.io';

export function validateRoleRef(object: KubeObject, kinds: readonly string[]): FieldError[] {
  const roleRef = optionalFields(object, 'roleRef');
  const group = textAt(roleRef, 'apiGroup');
  const kind = textAt(roleRef, 'kind');
  const name = textAt(roleRef, 'name');
  const errors: FieldError[] = [];
  if (group !== RBAC) errors.push(fieldNotSupported('roleRef.apiGroup', group, [RBAC]));
  if (!kinds.includes(kind)) errors.push(fieldNotSupported('roleRef.kind', kind, kinds));
  if (name === '') errors.push(fieldRequired('roleRef.name'));
  else errors.push(...invalidValues('roleRef.name', name, validatePathSegmentName(name)));
  return errors;
}

export function validateSubject(subject: Fields, at: string, ofCluster: boolean): FieldError[] {
  const kind = textAt(subject, 'kind');
  const name = textAt(subject, 'name');
  const group = textAt(subject, 'apiGroup');
  const errors = name === '' ? [fieldRequired(`${at}.name`)] : [];
  if (kind === 'ServiceAccount') {
    if (name !== '') errors.push(...invalidValues(`${at}.name`, name, validateDns1123Subdomain(name)));
    if (group !== '') errors.push(fieldNotSupported(`${at}.apiGroup`, group, ['']));
    if (ofCluster && textAt(subject, 'namespace') === '') errors.push(fieldRequired(`${at}.namespace`));
  } else if (kind === 'User' || kind === 'Group') {
    if (group !== RBAC) errors.push(fieldNotSupported(`${at}.apiGroup`, group, [RBAC]));
  } else errors.push(fieldNotSupported(`${at}.kind`, kind, ['ServiceAccount', 'User', 'Group']));
  return errors;
}

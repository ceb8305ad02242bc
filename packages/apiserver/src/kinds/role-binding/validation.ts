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
  const faults: FieldError[] = [];
  if (group !== RBAC) faults.push(fieldNotSupported('roleRef.apiGroup', group, [RBAC]));
  if (!kinds.includes(kind)) faults.push(fieldNotSupported('roleRef.kind', kind, kinds));
  if (name === '') faults.push(fieldRequired('roleRef.name'));
  else faults.push(...invalidValues('roleRef.name', name, validatePathSegmentName(name)));
  return faults;
}

export function validateSubject(subject: Fields, at: string, ofCluster: boolean): FieldError[] {
  const kind = textAt(subject, 'kind');
  const name = textAt(subject, 'name');
  const group = textAt(subject, 'apiGroup');
  const faults = name === '' ? [fieldRequired(`${at}.name`)] : [];
  if (kind === 'ServiceAccount') {
    if (name !== '') faults.push(...invalidValues(`${at}.name`, name, validateDns1123Subdomain(name)));
    if (group !== '') faults.push(fieldNotSupported(`${at}.apiGroup`, group, ['']));
    if (ofCluster && textAt(subject, 'namespace') === '') faults.push(fieldRequired(`${at}.namespace`));
  } else if (kind === 'User' || kind === 'Group') {
    if (group !== RBAC) faults.push(fieldNotSupported(`${at}.apiGroup`, group, [RBAC]));
  } else faults.push(fieldNotSupported(`${at}.kind`, kind, ['ServiceAccount', 'User', 'Group']));
  return faults;
}

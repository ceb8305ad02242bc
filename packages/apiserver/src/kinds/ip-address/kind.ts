import {
  type FieldError,
  fieldRequired,
  type KubeObject,
  validateDns1123Subdomain,
  validatePathSegmentName,
} from '@asterism/machinery';
import { optionalFields, textAt } from '../fields/draft-fields.ts';
import { validateInternalImmutable } from '../validation/immutable-field.ts';
import { validateCanonicalIp } from '../ip/ip-address.ts';
import { invalidValues } from '../validation/name-formats.ts';
import type { Kind } from '../../contract/kind.ts';

/** Of IPAddresses, whose names are addresses. */
export const ipAddressKind: Kind = {
  groupResource: 'ipaddresses.networking.k8s.io',
  strategy: {
    metadataChecks: 4,
    validateName: (name) =>
      validateCanonicalIp(name, '').map(({ message }) => message.replace(/^Invalid value: "[^"]*": /, '')),
    validateCreate: validateParent,
    validateUpdate: (object, old) => [
      ...validateParent(object),
      ...validateInternalImmutable(optionalFields(object, 'spec'), optionalFields(old, 'spec'), {
        at: 'spec',
        key: 'parentRef',
        type: 'ParentReference',
      }),
    ],
  },
};

function validateParent(object: KubeObject): FieldError[] {
  const at = 'spec.parentRef';
  const parent = optionalFields(optionalFields(object, 'spec'), 'parentRef');
  if (!parent) return [fieldRequired(at)];
  const group = textAt(parent, 'group');
  const namespace = textAt(parent, 'namespace');
  const faults = group === '' ? [] : invalidValues(`${at}.group`, group, validateDns1123Subdomain(group));
  for (const key of ['resource', 'name']) {
    const text = textAt(parent, key);
    if (text === '') faults.push(fieldRequired(`${at}.${key}`));
    else faults.push(...invalidValues(`${at}.${key}`, text, validatePathSegmentName(text)));
  }
  return [...faults, ...invalidValues(`${at}.namespace`, namespace, validatePathSegmentName(namespace))];
}

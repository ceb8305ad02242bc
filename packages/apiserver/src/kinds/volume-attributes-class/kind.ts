import { deepEqual, type FieldError, fieldForbidden, fieldRequired, type KubeObject } from '@asterism/machinery';
import { optionalFields, textAt } from '../fields/draft-fields.ts';
import type { Kind } from '../../contract/kind.ts';
import { validateParameters, validateProvisioner } from '../storage-class/validation.ts';

export const volumeAttributesClassKind: Kind = {
  groupResource: 'volumeattributesclasses.storage.k8s.io',
  strategy: {
    metadataChecks: 4,
    validateCreate: validateClass,
    validateUpdate: (object, old) => [
      ...['driverName', 'parameters']
        .filter((key) => !deepEqual(object[key] ?? null, old[key] ?? null))
        .map((key) => fieldForbidden(key, `updates to ${key} are forbidden.`)),
      ...validateClass(object),
    ],
  },
};

function validateClass(object: KubeObject): FieldError[] {
  const parameters = optionalFields(object, 'parameters') ?? {};
  const empty = Object.keys(parameters).length === 0;
  return [
    ...validateProvisioner(textAt(object, 'driverName'), 'driverName'),
    ...validateParameters(parameters),
    ...(empty ? [fieldRequired('parameters', 'must contain at least one key/value pair')] : []),
  ];
}

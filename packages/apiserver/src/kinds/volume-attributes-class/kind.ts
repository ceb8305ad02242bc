import { deepEqual, type FieldError, type KubeObject } from '@asterism/machinery';
import { forbiddenField, required, type Strategy } from '../../registry/strategy.ts';
import { optionalFields, textAt } from '../fields/draft-fields.ts';
import { validateParameters, validateProvisioner } from '../storage-class/kind.ts';

export const volumeAttributesClassStrategy: Strategy = {
  validatesEnums: true,
  validateCreate: validateClass,
  validateUpdate: (object, old) => [
    ...['driverName', 'parameters']
      .filter((key) => !deepEqual(object[key] ?? null, old[key] ?? null))
      .map((key) => forbiddenField(key, `updates to ${key} are forbidden.`)),
    ...validateClass(object),
  ],
};

function validateClass(object: KubeObject): FieldError[] {
  const parameters = optionalFields(object, 'parameters') ?? {};
  const empty = Object.keys(parameters).length === 0;
  return [
    ...validateProvisioner(textAt(object, 'driverName'), 'driverName'),
    ...validateParameters(parameters),
    ...(empty ? [required('parameters', 'must contain at least one key/value pair')] : []),
  ];
}

import { type FieldError, type KubeObject, parseQuantity, validateDns1123Subdomain } from '@asterism/machinery';
import { invalidValue, type Strategy } from '../strategy.ts';
import { optionalFields, textAt } from './draft-fields.ts';
import { validateImmutable } from './immutable-field.ts';
import { invalidValues } from './name-formats.ts';
import { validateLabelSelector } from './validate-label-selector.ts';

export const csiStorageCapacityStrategy: Strategy = {
  validatesEnums: true,
  validateCreate: validateCapacity,
  validateUpdate: (object, old) => [
    ...validateCapacity(object),
    ...validateImmutable(object, old, '', ['nodeTopology', 'storageClassName']),
  ],
};

function validateCapacity(object: KubeObject): FieldError[] {
  const className = textAt(object, 'storageClassName');
  const errors = [
    ...invalidValues('storageClassName', className, validateDns1123Subdomain(className)),
    ...validateLabelSelector(optionalFields(object, 'nodeTopology'), 'nodeTopology'),
  ];
  for (const key of ['capacity', 'maximumVolumeSize']) {
    const amount = object[key] as string | null | undefined;
    if (amount === undefined || amount === null || parseQuantity(amount).nanos >= 0n) continue;
    errors.push(invalidValue(key, amount, 'must be greater than or equal to 0'));
  }
  return errors;
}

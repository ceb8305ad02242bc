import type { FieldError } from '@asterism/machinery';
import { invalidValue, type Strategy } from '../strategy.ts';
import { optionalFields } from './draft-fields.ts';
import { validateDataKeys, validateImmutableData } from './secret.ts';

const DATA_LIMIT = 1024 * 1024;

export const configMapStrategy: Strategy = {
  validate(object) {
    const data = optionalFields(object, 'data') ?? {};
    const binaryData = optionalFields(object, 'binaryData') ?? {};
    const errors: FieldError[] = validateDataKeys(data, 'data');
    for (const key of Object.keys(data)) {
      if (binaryData[key] !== undefined)
        errors.push(invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'));
    }
    errors.push(...validateDataKeys(binaryData, 'binaryData'));
    const text = Object.values(data).reduce<number>((sum, value) => sum + Buffer.byteLength(String(value)), 0);
    const binary = Object.values(binaryData).reduce<number>(
      (sum, value) => sum + Buffer.byteLength(String(value), 'base64'),
      0,
    );
    if (text + binary > DATA_LIMIT) {
      errors.push({
        type: 'FieldValueTooLong',
        field: '',
        message: `Too long: may not be more than ${DATA_LIMIT} bytes`,
      });
    }
    return errors;
  },

  validateUpdate: (object, old) => validateImmutableData(object, old, ['data', 'binaryData']),
};

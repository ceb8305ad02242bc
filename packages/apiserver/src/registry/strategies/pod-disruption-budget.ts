import type { FieldError } from '@asterism/machinery';
import { invalidValue, type Strategy } from '../strategy.ts';
import { optionalFields } from './draft-fields.ts';

export const podDisruptionBudgetStrategy: Strategy = {
  requiresResourceVersion: true,

  validate(object) {
    const spec = optionalFields(object, 'spec') ?? {};
    const errors: FieldError[] = [];
    if (spec.minAvailable !== undefined && spec.maxUnavailable !== undefined) {
      errors.push(invalidValue('spec', spec, 'minAvailable and maxUnavailable cannot be both set'));
    }
    for (const key of ['minAvailable', 'maxUnavailable']) {
      const value = spec[key];
      if (typeof value === 'number' && value < 0) {
        errors.push(invalidValue(`spec.${key}`, value, 'must be greater than or equal to 0'));
      }
      if (typeof value === 'string' && !/^\d+%$/.test(value)) {
        errors.push(
          invalidValue(
            `spec.${key}`,
            value,
            "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
          ),
        );
      }
    }
    return errors;
  },
};

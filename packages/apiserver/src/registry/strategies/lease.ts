import type { Strategy } from '../strategy.ts';
import { invalidValue } from '../strategy.ts';
import { numberAt, optionalFields } from './draft-fields.ts';

export const leaseStrategy: Strategy = {
  createOnUpdate: true,
  requiresResourceVersion: true,

  validate(object) {
    const spec = optionalFields(object, 'spec');
    const duration = numberAt(spec, 'leaseDurationSeconds');
    const transitions = numberAt(spec, 'leaseTransitions');
    return [
      ...(duration !== undefined && duration <= 0
        ? [invalidValue('spec.leaseDurationSeconds', duration, 'must be greater than 0')]
        : []),
      ...(transitions !== undefined && transitions < 0
        ? [invalidValue('spec.leaseTransitions', transitions, 'must be greater than or equal to 0')]
        : []),
    ];
  },
};

import type { Strategy } from '../strategy.ts';
import { optionalFields, setDefaults } from './draft-fields.ts';
import { validateImmutable } from './immutable-field.ts';

export const ingressClassStrategy: Strategy = {
  applyDefaults(draft) {
    const parameters = optionalFields(optionalFields(draft, 'spec'), 'parameters');
    if (parameters) setDefaults(parameters, { scope: 'Cluster' });
  },

  validateUpdate: (object, old) =>
    validateImmutable(optionalFields(object, 'spec'), optionalFields(old, 'spec'), 'spec', ['controller']),
};

import type { FieldError } from '@asterism/machinery';
import { required, type Strategy } from '../strategy.ts';
import { listAt, setDefaults, setDefaultText, textAt } from './draft-fields.ts';
import { validateImmutable } from './immutable-field.ts';

export const endpointSliceStrategy: Strategy = {
  applyDefaults(draft) {
    for (const port of listAt(draft, 'ports')) {
      setDefaults(port, { name: '' });
      setDefaultText(port, 'protocol', 'TCP');
    }
  },

  validate(object) {
    const errors: FieldError[] = [];
    if (textAt(object, 'addressType') === '') errors.push(required('addressType'));
    for (const [index, endpoint] of listAt(object, 'endpoints').entries()) {
      if (!Array.isArray(endpoint.addresses) || endpoint.addresses.length === 0) {
        errors.push(required(`endpoints[${index}].addresses`, 'must contain at least 1 address'));
      }
    }
    return errors;
  },

  validateUpdate: (object, old) => validateImmutable(object, old, '', ['addressType']),
};

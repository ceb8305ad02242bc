import type { FieldError } from '@asterism/machinery';
import { required, type Strategy } from '../strategy.ts';
import { setDefaultText, textAt } from './draft-fields.ts';
import { validateImmutable } from './immutable-field.ts';

export const storageClassStrategy: Strategy = {
  applyDefaults(draft) {
    setDefaultText(draft, 'reclaimPolicy', 'Delete');
    setDefaultText(draft, 'volumeBindingMode', 'Immediate');
  },

  validate(object) {
    const errors: FieldError[] = [];
    if (textAt(object, 'provisioner') === '') errors.push(required('provisioner'));
    return errors;
  },

  validateUpdate: (object, old) =>
    validateImmutable(object, old, '', ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode']),
};

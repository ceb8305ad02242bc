import type { Strategy } from '../strategy.ts';
import { forbiddenField } from '../strategy.ts';
import { setDefaultText } from './draft-fields.ts';
import { validateImmutable } from './immutable-field.ts';

/** The two that Kubernetes makes for itself. */
const SYSTEM_CLASSES = ['system-node-critical', 'system-cluster-critical'];

export const priorityClassStrategy: Strategy = {
  applyDefaults: (draft) => setDefaultText(draft, 'preemptionPolicy', 'PreemptLowerPriority'),

  validate({ metadata }) {
    const { name = '' } = metadata ?? {};
    if (!name.startsWith('system-') || SYSTEM_CLASSES.includes(name)) return [];
    const detail = `priority class names with 'system-' prefix are reserved for system use only. error: ${name} is not a known system priority class`;
    return [forbiddenField('metadata.name', detail)];
  },

  validateUpdate(object, old) {
    const errors = validateImmutable(object, old, '', ['value', 'preemptionPolicy']);
    return errors.map(({ field, message }) =>
      field === 'value'
        ? forbiddenField('value', 'may not be changed in an update.')
        : { type: 'FieldValueInvalid', field, message },
    );
  },
};

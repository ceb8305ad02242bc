import type { FieldError } from '@asterism/machinery';
import { required, type Strategy } from '../strategy.ts';
import { fieldsAt, optionalFields, setDefaults, setDefaultText } from './draft-fields.ts';
import { defaultVolumeSource } from './pod-spec-defaults.ts';

export const persistentVolumeStrategy: Strategy = {
  applyDefaults(draft) {
    const spec = fieldsAt(draft, 'spec');
    defaultVolumeSource(spec);
    setDefaultText(spec, 'persistentVolumeReclaimPolicy', 'Retain');
    setDefaults(spec, { volumeMode: 'Filesystem' });
  },

  prepareForCreate(draft, { now }) {
    draft.status = { phase: 'Pending', lastPhaseTransitionTime: now };
  },

  prepareForUpdate(draft, old, { now }) {
    const phase = optionalFields(draft, 'status')?.phase;
    if (phase !== optionalFields(old, 'status')?.phase) fieldsAt(draft, 'status').lastPhaseTransitionTime = now;
  },

  validate(object) {
    const spec = optionalFields(object, 'spec');
    const errors: FieldError[] = [];
    if (!Array.isArray(spec?.accessModes) || spec.accessModes.length === 0) errors.push(required('spec.accessModes'));
    if (Object.keys(optionalFields(spec, 'capacity') ?? {}).length === 0) errors.push(required('spec.capacity'));
    return errors;
  },
};

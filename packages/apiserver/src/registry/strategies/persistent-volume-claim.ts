import { cloneJson, type FieldError } from '@asterism/machinery';
import { required, type Strategy } from '../strategy.ts';
import { type Fields, fieldsAt, optionalFields, setDefaults, setDefaultText } from './draft-fields.ts';

export const persistentVolumeClaimStrategy: Strategy = {
  applyDefaults(draft) {
    defaultPersistentVolumeClaim(draft);
    const spec = fieldsAt(draft, 'spec');
    // `dataSource` is the older of the two, and limited to some kinds.
    if (spec.dataSource && !spec.dataSourceRef) spec.dataSourceRef = cloneJson(spec.dataSource);
  },

  prepareForCreate(draft) {
    draft.status = { phase: 'Pending' };
  },

  validate(object) {
    const spec = optionalFields(object, 'spec');
    const errors: FieldError[] = [];
    if (!Array.isArray(spec?.accessModes) || spec.accessModes.length === 0) {
      errors.push(required('spec.accessModes', 'at least 1 access mode is required'));
    }
    const requests = optionalFields(optionalFields(spec, 'resources'), 'requests');
    if (requests?.storage === undefined) errors.push(required('spec.resources[storage]'));
    return errors;
  },
};

/** Also of the claims that StatefulSets make. */
export function defaultPersistentVolumeClaim(claim: Fields): void {
  setDefaults(fieldsAt(claim, 'spec'), { volumeMode: 'Filesystem' });
  setDefaultText(fieldsAt(claim, 'status'), 'phase', 'Pending');
}

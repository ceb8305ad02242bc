import type { Strategy } from '../strategy.ts';
import { fieldsAt, optionalFields, setDefaults, setDefaultText } from './draft-fields.ts';
import { validateImmutable } from './immutable-field.ts';

export const csiDriverStrategy: Strategy = {
  applyDefaults(draft) {
    const spec = fieldsAt(draft, 'spec');
    setDefaults(spec, {
      attachRequired: true,
      podInfoOnMount: false,
      storageCapacity: false,
      requiresRepublish: false,
      seLinuxMount: false,
    });
    setDefaultText(spec, 'fsGroupPolicy', 'ReadWriteOnceWithFSType');
    setDefaults(spec, { volumeLifecycleModes: ['Persistent'] });
  },

  validateUpdate: (object, old) =>
    validateImmutable(optionalFields(object, 'spec'), optionalFields(old, 'spec'), 'spec', [
      'attachRequired',
      'fsGroupPolicy',
      'volumeLifecycleModes',
    ]),
};

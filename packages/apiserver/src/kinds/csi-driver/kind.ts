import { deepEqual } from '@asterism/machinery';
import { fieldsAt, optionalFields, setDefaults, setDefaultText } from '../fields/draft-fields.ts';
import { validateImmutable } from '../validation/immutable-field.ts';
import type { Kind } from '../../contract/kind.ts';
import { validateSpec } from './validation.ts';

export const csiDriverKind: Kind = {
  groupResource: 'csidrivers.storage.k8s.io',
  strategy: {
    requiresResourceVersion: true,
    returnsDeleted: true,

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

    /** Changes are counted, though a new driver has no generation. */
    prepareForUpdate({ metadata, spec }, old) {
      if (!deepEqual(spec, old.spec)) metadata.generation = (old.metadata?.generation ?? 0) + 1;
    },

    validateCreate: validateSpec,

    validateUpdate(object, old) {
      const spec = optionalFields(object, 'spec');
      const before = optionalFields(old, 'spec');
      // Upstream's name of the field.
      const attach = validateImmutable(spec, before, 'spec', ['attachRequired']).map((fault) => ({
        ...fault,
        field: 'spec.attachedRequired',
      }));
      return [...validateSpec(object), ...attach, ...validateImmutable(spec, before, 'spec', ['volumeLifecycleModes'])];
    },
  },
};

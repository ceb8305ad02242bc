import { deepEqual, fieldForbidden } from '@asterism/machinery';
import { listAt, setDefaultText, textAt } from '../fields/draft-fields.ts';
import { validateImmutable } from '../validation/immutable-field.ts';
import { labelDeprecation } from '../pod-spec/deprecated-labels.ts';
import type { Kind } from '../../contract/kind.ts';
import { validateClass } from './validation.ts';

export const storageClassKind: Kind = {
  groupResource: 'storageclasses.storage.k8s.io',
  strategy: {
    returnsDeleted: true,
    metadataChecks: 4,

    applyDefaults(draft) {
      setDefaultText(draft, 'reclaimPolicy', 'Delete');
      setDefaultText(draft, 'volumeBindingMode', 'Immediate');
    },

    validateCreate: validateClass,
    validateUpdate: (object, old) => [
      ...validateClass(object),
      ...['parameters', 'provisioner', 'reclaimPolicy']
        .filter((key) => !deepEqual(object[key] ?? null, old[key] ?? null))
        .map((key) => fieldForbidden(key, `updates to ${key} are forbidden.`)),
      ...validateImmutable(object, old, '', ['volumeBindingMode']),
    ],

    warnings: (object) =>
      listAt(object, 'allowedTopologies').flatMap((term, index) =>
        listAt(term, 'matchLabelExpressions').flatMap((requirement, at) => {
          const text = labelDeprecation(textAt(requirement, 'key'));
          return text ? [`allowedTopologies[${index}].matchLabelExpressions[${at}].key: ${text}`] : [];
        }),
      ),
  },
};

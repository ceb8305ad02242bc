import { type FieldError, type KubeObject, parseQuantity, validateDns1123Subdomain } from '@asterism/machinery';
import { listAt, optionalFields, textAt } from '../fields/draft-fields.ts';
import { NOT_NEGATIVE } from '../validation/faults.ts';
import { validateImmutable } from '../validation/immutable-field.ts';
import { invalidValues } from '../validation/name-formats.ts';
import { labelDeprecation } from '../pod-spec/deprecated-labels.ts';
import { labelSelectorFaults } from '../validation/validate-label-selector.ts';
import { invalidValue } from '../../registry/invalid-value.ts';
import type { Kind } from '../../contract/kind.ts';

export const csiStorageCapacityKind: Kind = {
  groupResource: 'csistoragecapacities.storage.k8s.io',
  strategy: {
    requiresResourceVersion: true,
    metadataChecks: 4,
    validate: validateCapacity,
    validateUpdate: (object, old) => validateImmutable(object, old, '', ['nodeTopology', 'storageClassName']),

    warnings(object) {
      const topology = optionalFields(object, 'nodeTopology');
      const warnings = listAt(topology, 'matchExpressions').flatMap((requirement, index) => {
        const key = textAt(requirement, 'key');
        const text = labelDeprecation(key);
        return text ? [`nodeTopology.matchExpressions[${index}].key: ${key} is ${text}`] : [];
      });
      for (const label of Object.keys(optionalFields(topology, 'matchLabels') ?? {})) {
        const text = labelDeprecation(label);
        if (text) warnings.push(`nodeTopology.matchLabels.${label}: ${text}`);
      }
      return warnings;
    },
  },
};

function validateCapacity(object: KubeObject): FieldError[] {
  const className = textAt(object, 'storageClassName');
  const faults = [
    ...labelSelectorFaults(optionalFields(object, 'nodeTopology'), 'nodeTopology'),
    ...invalidValues('storageClassName', className, validateDns1123Subdomain(className)),
  ];
  const { capacity } = object;
  if (typeof capacity === 'string' && parseQuantity(capacity).nanos < 0n)
    faults.push(invalidValue('capacity', capacity, NOT_NEGATIVE));
  return faults;
}

import { deepEqual } from '@asterism/machinery';
import { type Fields, textAt } from '../fields/draft-fields.ts';
import { internalForm } from '../validation/internal-form.ts';
import { invalidValue } from '../../registry/invalid-value.ts';
import type { Kind } from '../../contract/kind.ts';
import { driversOf, validateDrivers } from './validation.ts';

export const csiNodeKind: Kind = {
  groupResource: 'csinodes.storage.k8s.io',
  strategy: {
    requiresResourceVersion: true,
    returnsDeleted: true,
    /** As `drivers` itself, the list is always told. */
    applyDefaults(draft) {
      for (const driver of driversOf(draft)) driver.topologyKeys ??= null;
    },

    validateCreate: validateDrivers,

    /** A driver may come and go, but not change, but for what it can take. */
    validateUpdate(object, old) {
      const before = new Map(driversOf(old).map((driver) => [textAt(driver, 'name'), withoutAllocatable(driver)]));
      const faults = validateDrivers(object);
      const changed = driversOf(object)
        .map(withoutAllocatable)
        .filter((driver) => {
          const was = before.get(textAt(driver, 'name'));
          return was && !deepEqual(driver, was);
        });
      return [
        ...faults,
        ...changed.map((driver) =>
          invalidValue('spec.drivers', internalForm('CSINodeDriver', driver), 'field is immutable'),
        ),
      ];
    },
  },
};

function withoutAllocatable(driver: Fields): Fields {
  const { allocatable: _, ...rest } = driver;
  return rest;
}

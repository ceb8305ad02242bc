import {
  deepEqual,
  type FieldError,
  fieldRequired,
  type KubeObject,
  seenBefore,
  validateQualifiedName,
} from '@asterism/machinery';
import { checkDriverName } from '../persistent-volume/validation.ts';
import { type Fields, listAt, numberAt, optionalFields, textAt, textsAt } from '../fields/draft-fields.ts';
import { Faults } from '../validation/faults.ts';
import { FieldPath } from '../validation/field-path.ts';
import { invalidValues } from '../validation/name-formats.ts';
import { internalForm } from '../validation/internal-form.ts';
import { duplicateValue, invalidValue } from '../../registry/invalid-value.ts';
import type { Kind } from '../../contract/kind.ts';

const MAX_NODE_ID_LENGTH = 256;

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
      const errors = validateDrivers(object);
      const changed = driversOf(object)
        .map(withoutAllocatable)
        .filter((driver) => {
          const was = before.get(textAt(driver, 'name'));
          return was && !deepEqual(driver, was);
        });
      return [
        ...errors,
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

function driversOf(object: KubeObject): Fields[] {
  return listAt(optionalFields(object, 'spec'), 'drivers');
}

function validateDrivers(object: KubeObject): FieldError[] {
  const names = new Set<string>();
  return driversOf(object).flatMap((driver, index) => {
    const at = `spec.drivers[${index}]`;
    const name = textAt(driver, 'name');
    const id = textAt(driver, 'nodeID');
    const faults = new Faults();
    checkDriverName(name, FieldPath.of(`${at}.name`), faults);
    const errors = [...faults.found];
    if (id === '') errors.push(fieldRequired(`${at}.nodeID`));
    else if (id.length > MAX_NODE_ID_LENGTH)
      errors.push(invalidValue(`${at}.nodeID`, id, `must be ${MAX_NODE_ID_LENGTH} characters or less`));
    const count = numberAt(optionalFields(driver, 'allocatable'), 'count') ?? 0;
    if (count < 0) errors.push(invalidValue(`${at}.allocatable.count`, count, 'must be greater than or equal to 0'));
    if (names.has(name)) errors.push(duplicateValue(`${at}.name`, name));
    names.add(name);
    const keys = textsAt(driver, 'topologyKeys');
    // Upstream names the driver and not its list.
    const isRepeated = seenBefore<string>();
    for (const key of keys) {
      if (key === '') errors.push(fieldRequired(at));
      if (isRepeated(key)) errors.push(duplicateValue(at, key));
      errors.push(...invalidValues(at, key, validateQualifiedName(key)));
    }
    return errors;
  });
}

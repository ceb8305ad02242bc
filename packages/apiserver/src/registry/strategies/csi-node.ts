import { deepEqual, type FieldError, type KubeObject, validateQualifiedName } from '@asterism/machinery';
import { duplicateValue, invalidValue, required, type Strategy } from '../strategy.ts';
import { checkDriverName } from './check-persistent-volume.ts';
import { type Fields, listAt, numberAt, optionalFields, textAt, textsAt } from './draft-fields.ts';
import { Faults } from './faults.ts';
import { FieldPath } from './field-path.ts';
import { invalidValues } from './name-formats.ts';
import { internalForm } from './pod-spec/internal-form.ts';

const MAX_NODE_ID_LENGTH = 192;
/** What was accepted once. */
const OLD_MAX_NODE_ID_LENGTH = 256;

export const csiNodeStrategy: Strategy = {
  validatesEnums: true,

  /** As `drivers` itself, the list is always told. */
  applyDefaults(draft) {
    for (const driver of driversOf(draft)) driver.topologyKeys ??= null;
  },

  validateCreate: (object) => validateDrivers(object, undefined),

  /** A driver may come and go, but not change, but for what it can take. */
  validateUpdate(object, old) {
    const before = new Map(driversOf(old).map((driver) => [textAt(driver, 'name'), driver]));
    return [
      ...validateDrivers(object, old),
      ...driversOf(object).flatMap((driver) => {
        const was = before.get(textAt(driver, 'name'));
        if (!was || deepEqual({ ...driver, allocatable: was.allocatable }, was)) return [];
        return [invalidValue('CSINodeDriver', internalForm('CSINodeDriver', driver), 'field is immutable')];
      }),
    ];
  },
};

function driversOf(object: KubeObject | undefined): Fields[] {
  return listAt(optionalFields(object, 'spec'), 'drivers');
}

function validateDrivers(object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const names = new Set<string>();
  const known = new Set(driversOf(old).map((driver) => textAt(driver, 'nodeID')));
  return driversOf(object).flatMap((driver, index) => {
    const at = `spec.drivers[${index}]`;
    const name = textAt(driver, 'name');
    const id = textAt(driver, 'nodeID');
    const most = known.has(id) ? OLD_MAX_NODE_ID_LENGTH : MAX_NODE_ID_LENGTH;
    const faults = new Faults();
    checkDriverName(name, FieldPath.of(`${at}.name`), faults);
    const errors = [...faults.found];
    if (id === '') errors.push(required(`${at}.nodeID`));
    else if (id.length > most) errors.push(invalidValue(`${at}.nodeID`, id, `must be ${most} characters or less`));
    const count = numberAt(optionalFields(driver, 'allocatable'), 'count') ?? 0;
    if (count < 0) errors.push(invalidValue(`${at}.allocatable.count`, count, 'must be greater than or equal to 0'));
    if (names.has(name)) errors.push(duplicateValue(`${at}.name`, name));
    names.add(name);
    const keys = textsAt(driver, 'topologyKeys');
    for (const [place, key] of keys.entries()) {
      if (key === '') errors.push(required(`${at}.topologyKeys`));
      if (keys.indexOf(key) < place) errors.push(duplicateValue(`${at}.topologyKeys`, key));
      errors.push(...invalidValues(`${at}.topologyKeys`, key, validateQualifiedName(key)));
    }
    return errors;
  });
}

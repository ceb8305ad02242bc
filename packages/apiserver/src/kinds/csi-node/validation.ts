import {
  type FieldError,
  fieldRequired,
  type KubeObject,
  seenBefore,
  validateQualifiedName,
} from '@asterism/machinery';
import { validateDriverName } from '../persistent-volume/validation.ts';
import { type Fields, listAt, numberAt, optionalFields, textAt, textsAt } from '../fields/draft-fields.ts';
import { collectFaults } from '../validation/faults.ts';
import { FieldPath } from '../validation/field-path.ts';
import { invalidValues } from '../validation/name-formats.ts';
import { duplicateValue, invalidValue } from '../../registry/invalid-value.ts';

const MAX_NODE_ID_LENGTH = 256;

export function driversOf(object: KubeObject): Fields[] {
  return listAt(optionalFields(object, 'spec'), 'drivers');
}

export function validateDrivers(object: KubeObject): FieldError[] {
  const names = new Set<string>();
  return driversOf(object).flatMap((driver, index) => {
    const at = `spec.drivers[${index}]`;
    const name = textAt(driver, 'name');
    const id = textAt(driver, 'nodeID');
    const faults = collectFaults((found) => validateDriverName(name, FieldPath.of(`${at}.name`), found));
    if (id === '') faults.push(fieldRequired(`${at}.nodeID`));
    else if (id.length > MAX_NODE_ID_LENGTH)
      faults.push(invalidValue(`${at}.nodeID`, id, `must be ${MAX_NODE_ID_LENGTH} characters or less`));
    const count = numberAt(optionalFields(driver, 'allocatable'), 'count') ?? 0;
    if (count < 0) faults.push(invalidValue(`${at}.allocatable.count`, count, 'must be greater than or equal to 0'));
    if (names.has(name)) faults.push(duplicateValue(`${at}.name`, name));
    names.add(name);
    const keys = textsAt(driver, 'topologyKeys');
    // Upstream names the driver and not its list.
    const isRepeated = seenBefore<string>();
    for (const key of keys) {
      if (key === '') faults.push(fieldRequired(at));
      if (isRepeated(key)) faults.push(duplicateValue(at, key));
      faults.push(...invalidValues(at, key, validateQualifiedName(key)));
    }
    return faults;
  });
}

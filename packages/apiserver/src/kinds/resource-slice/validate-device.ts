import {
  type FieldError,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  fieldTooMany,
  type NodeSelector,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateLabelKey,
  validateLabelValue,
} from '@asterism/machinery';
import { type Fields, listAt, optionalFields, textAt } from '../fields/draft-fields.ts';
import { Faults } from '../validation/faults.ts';
import { FieldPath } from '../validation/field-path.ts';
import { invalidValues } from '../validation/name-formats.ts';
import { validateNodeSelector } from '../pod-spec/validate-affinity.ts';
import { validateQualifiedId } from '../device/validate-device-claim.ts';
import { invalidValue } from '../../registry/invalid-value.ts';

const MAX_ATTRIBUTES = 32;
const MAX_TEXT = 64;
const MAX_TAINTS = 16;
const EFFECTS = ['NoExecute', 'NoSchedule', 'None'];
const VALUES = ['bool', 'int', 'string', 'version'];
const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$/;

/** The faults of one device of a ResourceSlice. */
export function validateDevice(device: Fields, at: string, slice: Fields): FieldError[] {
  const name = textAt(device, 'name');
  const attributes = Object.entries(optionalFields(device, 'attributes') ?? {});
  const capacity = Object.entries(optionalFields(device, 'capacity') ?? {});
  const errors = invalidValues(`${at}.name`, name, validateDns1123Label(name));
  const count = attributes.length + capacity.length;
  if (count > MAX_ATTRIBUTES) {
    const detail = `the total number of attributes and capacities must not exceed ${MAX_ATTRIBUTES}`;
    errors.push(invalidValue(at, count, detail));
  }
  for (const [key, value] of attributes) {
    errors.push(...validateQualifiedId(key, `${at}.attributes[${key}]`));
    errors.push(...validateAttribute(value as Fields, `${at}.attributes[${key}]`));
  }
  for (const [key] of capacity) errors.push(...validateQualifiedId(key, `${at}.capacity[${key}]`));
  const taints = listAt(device, 'taints');
  if (taints.length > MAX_TAINTS) errors.push(fieldTooMany(`${at}.taints`, taints.length, MAX_TAINTS));
  errors.push(...taints.flatMap((taint, index) => validateTaint(taint, `${at}.taints[${index}]`)));
  return [...errors, ...validateDeviceNodes(device, at, slice.perDeviceNodeSelection === true)];
}

function validateAttribute(attribute: Fields, at: string): FieldError[] {
  const given = VALUES.filter((key) => attribute[key] !== undefined);
  const errors: FieldError[] = [];
  const { string: text, version } = attribute;
  if (typeof text === 'string' && Buffer.byteLength(text) > MAX_TEXT)
    errors.push(fieldTooLong(`${at}.string`, MAX_TEXT));
  if (typeof version === 'string') {
    if (!SEMVER.test(version))
      errors.push(invalidValue(`${at}.version`, version, 'must be a string compatible with semver.org spec 2.0.0'));
    if (version.length > MAX_TEXT) errors.push(fieldTooLong(`${at}.version`, MAX_TEXT));
  }
  if (given.length === 0) errors.push(fieldRequired(at, 'exactly one value must be specified'));
  else if (given.length > 1) {
    const shown = {
      IntValue: attribute.int ?? null,
      BoolValue: attribute.bool ?? null,
      StringValue: text ?? null,
      VersionValue: version ?? null,
    };
    errors.push(invalidValue(at, shown, 'exactly one value must be specified'));
  }
  return errors;
}

function validateTaint(taint: Fields, at: string): FieldError[] {
  const key = textAt(taint, 'key');
  const value = textAt(taint, 'value');
  const effect = textAt(taint, 'effect');
  const errors = invalidValues(`${at}.key`, key, validateLabelKey(key));
  if (value !== '') errors.push(...invalidValues(`${at}.value`, value, validateLabelValue(value)));
  if (effect === '') errors.push(fieldRequired(`${at}.effect`));
  else if (!EFFECTS.includes(effect)) errors.push(fieldNotSupported(`${at}.effect`, effect, EFFECTS));
  return errors;
}

function validateDeviceNodes(device: Fields, at: string, perDevice: boolean): FieldError[] {
  const { nodeName, allNodes } = device;
  const selector = optionalFields(device, 'nodeSelector');
  if (!perDevice) {
    if (nodeName === undefined && allNodes === undefined && !selector) return [];
    const detail =
      '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
    return [invalidValue(at, null, detail)];
  }
  const set: string[] = [];
  const errors: FieldError[] = [];
  if (nodeName === '') errors.push(invalidValue(`${at}.nodeName`, '', 'must not be empty'));
  else if (typeof nodeName === 'string') {
    set.push('`nodeName`');
    errors.push(...invalidValues(`${at}.nodeName`, nodeName, validateDns1123Subdomain(nodeName)));
  }
  if (selector) {
    set.push('`nodeSelector`');
    const faults = new Faults();
    validateNodeSelector(selector as Partial<NodeSelector>, FieldPath.of(`${at}.nodeSelector`), faults);
    errors.push(...faults.found);
  }
  if (allNodes === true) set.push('`allNodes`');
  else if (allNodes === false)
    errors.push(invalidValue(`${at}.allNodes`, false, 'must be either unset or set to true'));
  const detail =
    'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
  if (set.length === 0) errors.push(fieldRequired(at, detail));
  else if (set.length > 1) errors.push(invalidValue(at, `{${set.join(', ')}}`, detail));
  return errors;
}

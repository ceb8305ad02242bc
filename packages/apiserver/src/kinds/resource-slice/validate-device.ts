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
import { collectFaults } from '../validation/faults.ts';
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
  const faults = invalidValues(`${at}.name`, name, validateDns1123Label(name));
  const count = attributes.length + capacity.length;
  if (count > MAX_ATTRIBUTES) {
    const detail = `the total number of attributes and capacities must not exceed ${MAX_ATTRIBUTES}`;
    faults.push(invalidValue(at, count, detail));
  }
  for (const [key, value] of attributes) {
    faults.push(...validateQualifiedId(key, `${at}.attributes[${key}]`));
    faults.push(...validateAttribute(value as Fields, `${at}.attributes[${key}]`));
  }
  for (const [key] of capacity) faults.push(...validateQualifiedId(key, `${at}.capacity[${key}]`));
  const taints = listAt(device, 'taints');
  if (taints.length > MAX_TAINTS) faults.push(fieldTooMany(`${at}.taints`, taints.length, MAX_TAINTS));
  faults.push(...taints.flatMap((taint, index) => validateTaint(taint, `${at}.taints[${index}]`)));
  return [...faults, ...validateDeviceNodes(device, at, slice.perDeviceNodeSelection === true)];
}

function validateAttribute(attribute: Fields, at: string): FieldError[] {
  const given = VALUES.filter((key) => attribute[key] !== undefined);
  const faults: FieldError[] = [];
  const { string: text, version } = attribute;
  if (typeof text === 'string' && Buffer.byteLength(text) > MAX_TEXT)
    faults.push(fieldTooLong(`${at}.string`, MAX_TEXT));
  if (typeof version === 'string') {
    if (!SEMVER.test(version))
      faults.push(invalidValue(`${at}.version`, version, 'must be a string compatible with semver.org spec 2.0.0'));
    if (version.length > MAX_TEXT) faults.push(fieldTooLong(`${at}.version`, MAX_TEXT));
  }
  if (given.length === 0) faults.push(fieldRequired(at, 'exactly one value must be specified'));
  else if (given.length > 1) {
    const shown = {
      IntValue: attribute.int ?? null,
      BoolValue: attribute.bool ?? null,
      StringValue: text ?? null,
      VersionValue: version ?? null,
    };
    faults.push(invalidValue(at, shown, 'exactly one value must be specified'));
  }
  return faults;
}

function validateTaint(taint: Fields, at: string): FieldError[] {
  const key = textAt(taint, 'key');
  const value = textAt(taint, 'value');
  const effect = textAt(taint, 'effect');
  const faults = invalidValues(`${at}.key`, key, validateLabelKey(key));
  if (value !== '') faults.push(...invalidValues(`${at}.value`, value, validateLabelValue(value)));
  if (effect === '') faults.push(fieldRequired(`${at}.effect`));
  else if (!EFFECTS.includes(effect)) faults.push(fieldNotSupported(`${at}.effect`, effect, EFFECTS));
  return faults;
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
  const faults: FieldError[] = [];
  if (nodeName === '') faults.push(invalidValue(`${at}.nodeName`, '', 'must not be empty'));
  else if (typeof nodeName === 'string') {
    set.push('`nodeName`');
    faults.push(...invalidValues(`${at}.nodeName`, nodeName, validateDns1123Subdomain(nodeName)));
  }
  if (selector) {
    set.push('`nodeSelector`');
    const place = FieldPath.of(`${at}.nodeSelector`);
    faults.push(...collectFaults((found) => validateNodeSelector(selector as Partial<NodeSelector>, place, found)));
  }
  if (allNodes === true) set.push('`allNodes`');
  else if (allNodes === false)
    faults.push(invalidValue(`${at}.allNodes`, false, 'must be either unset or set to true'));
  const detail =
    'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
  if (set.length === 0) faults.push(fieldRequired(at, detail));
  else if (set.length > 1) faults.push(invalidValue(at, `{${set.join(', ')}}`, detail));
  return faults;
}

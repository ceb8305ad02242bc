import {
  type FieldError,
  fieldRequired,
  fieldTooLong,
  fieldTooMany,
  type KubeObject,
  type NodeSelector,
  validateDns1123Subdomain,
} from '@asterism/machinery';
import { validateDriverName } from '../persistent-volume/validation.ts';
import { type Fields, listAt, numberAt, optionalFields, textAt } from '../fields/draft-fields.ts';
import { collectFaults, Faults } from '../validation/faults.ts';
import { FieldPath } from '../validation/field-path.ts';
import { invalidValues } from '../validation/name-formats.ts';
import { validateNodeSelector } from '../pod-spec/validate-affinity.ts';
import { validateDistinct } from '../device/validate-device-claim.ts';
import { validateDevice } from './validate-device.ts';
import { invalidValue } from '../../registry/invalid-value.ts';

const MAX_DEVICES = 128;

/** Where devices have taints, or use counters. */
const MAX_SPECIAL_DEVICES = 64;
const MAX_POOL_NAME = 253;
const NODE_KEYS = ['nodeName', 'nodeSelector', 'allNodes', 'perDeviceNodeSelection'];

export function validateSlice(object: KubeObject): FieldError[] {
  const spec = optionalFields(object, 'spec') ?? {};
  const devices = listAt(spec, 'devices');
  const special = devices.some(
    (device) => listAt(device, 'taints').length + listAt(device, 'consumesCounters').length > 0,
  );
  const most = special ? MAX_SPECIAL_DEVICES : MAX_DEVICES;
  const driverAt = FieldPath.of('spec').child('driver');
  const faults = [
    ...collectFaults((found) => validateDriverName(textAt(spec, 'driver'), driverAt, found)),
    ...validatePool(optionalFields(spec, 'pool') ?? {}),
    ...validateNodes(spec),
  ];
  if (listAt(spec, 'sharedCounters').length > 0 && devices.length > 0)
    faults.push(invalidValue('spec', '', 'only one of `sharedCounters` or `devices` is allowed'));
  if (devices.length > most) faults.push(fieldTooMany('spec.devices', devices.length, most));
  faults.push(...devices.flatMap((device, index) => validateDevice(device, `spec.devices[${index}]`, spec)));
  return [...faults, ...validateDistinct(devices, 'spec.devices')];
}

function validatePool(pool: Fields): FieldError[] {
  const name = textAt(pool, 'name');
  const count = numberAt(pool, 'resourceSliceCount') ?? 0;
  const generation = numberAt(pool, 'generation') ?? 0;
  const faults: FieldError[] = [];
  if (name === '') faults.push(fieldRequired('spec.pool.name'));
  else {
    if (name.length > MAX_POOL_NAME) faults.push(fieldTooLong('spec.pool.name', MAX_POOL_NAME));
    for (const part of name.split('/'))
      faults.push(...invalidValues('spec.pool.name', part, validateDns1123Subdomain(part)));
  }
  if (count <= 0) faults.push(invalidValue('spec.pool.resourceSliceCount', count, 'must be greater than zero'));
  if (generation < 0)
    faults.push(invalidValue('spec.pool.generation', generation, 'must be greater than or equal to zero'));
  return faults;
}

function validateNodes(spec: Fields): FieldError[] {
  const set: string[] = [];
  const faults: FieldError[] = [];
  const { nodeName, allNodes, perDeviceNodeSelection } = spec;
  const selector = optionalFields(spec, 'nodeSelector');
  if (nodeName === '')
    faults.push(invalidValue('spec.nodeName', '', 'must be either unset or set to a non-empty string'));
  else if (typeof nodeName === 'string') {
    set.push('`nodeName`');
    faults.push(...invalidValues('spec.nodeName', nodeName, validateDns1123Subdomain(nodeName)));
  }
  if (selector) {
    set.push('`nodeSelector`');
    faults.push(...validateSelector(selector, 'spec.nodeSelector'));
  }
  for (const [key, value] of Object.entries({ allNodes, perDeviceNodeSelection })) {
    if (value === true) set.push(`\`${key}\``);
    else if (value === false) faults.push(invalidValue(`spec.${key}`, false, 'must be either unset or set to true'));
  }
  const detail = `exactly one of ${NODE_KEYS.map((key) => `\`${key}\``).join(', ')} is required`;
  if (set.length === 0) faults.push(fieldRequired('spec', detail));
  else if (set.length > 1)
    faults.push(invalidValue('spec', `{${set.join(', ')}}`, `${detail}, but multiple fields are set`));
  return faults;
}

function validateSelector(selector: Fields, at: string): FieldError[] {
  const faults = new Faults();
  validateNodeSelector(selector as Partial<NodeSelector>, FieldPath.of(at), faults);
  const terms = listAt(selector, 'nodeSelectorTerms');
  if (terms.length === 1) return faults.found;
  const detail = 'must have exactly one node selector term';
  return [...faults.found, invalidValue(`${at}.nodeSelectorTerms`, terms.length > 0 ? terms : null, detail)];
}

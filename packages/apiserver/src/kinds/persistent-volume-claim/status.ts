import {
  type FieldError,
  fieldNotSupported,
  fieldRequired,
  type KubeObject,
  parseQuantity,
  validateQualifiedName,
} from '@asterism/machinery';
import { type Fields, optionalFields, textsAt } from '../fields/draft-fields.ts';
import { collectFaults } from '../validation/faults.ts';
import { FieldPath } from '../validation/field-path.ts';
import { validateQuantity } from '../pod-spec/validate-resources.ts';
import { isNativeResource } from '../pod-spec/resource-names.ts';
import { invalidValue } from '../../registry/invalid-value.ts';

const RESIZE_STATES = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
];

/** Of `status` of a PersistentVolumeClaim. */
export function validateClaimStatus(object: KubeObject): FieldError[] {
  const status = optionalFields(object, 'status');
  const faults: FieldError[] = [];
  if (textsAt(optionalFields(object, 'spec'), 'accessModes').length === 0)
    faults.push(fieldRequired('Spec.accessModes'));
  for (const [name, amount] of entriesOf(status, 'capacity'))
    faults.push(...validateAmount(amount, `status.capacity[${name}]`));
  for (const [name, state] of entriesOf(status, 'allocatedResourceStatuses')) {
    const at = 'status.allocatedResourceStatus';
    faults.push(...validateName(name, at));
    if (!RESIZE_STATES.includes(String(state))) faults.push(fieldNotSupported(at, name, RESIZE_STATES));
  }
  for (const [name, amount] of entriesOf(status, 'allocatedResources')) {
    const at = `status.allocatedResources[${name}]`;
    const own = [...validateName(name, 'status.allocatedResources')];
    if (own.length === 0) own.push(...validateAmount(amount, at));
    if (own.length === 0) own.push(...validateStorage(amount, at));
    faults.push(...own);
  }
  return faults;
}

function entriesOf(status: Fields | undefined, key: string): [string, unknown][] {
  return Object.entries(optionalFields(status, key) ?? {});
}

function validateAmount(amount: unknown, at: string): FieldError[] {
  const units = parseQuantity(String(amount)).nanos / 1_000_000_000n;
  return units < 0n ? [invalidValue(at, Number(units), 'must be a valid resource quantity')] : [];
}

function validateStorage(amount: unknown, at: string): FieldError[] {
  return collectFaults((faults) => validateQuantity('storage', String(amount), FieldPath.of(at), faults));
}

function validateName(name: string, at: string): FieldError[] {
  const faults = validateQualifiedName(name);
  if (faults.length > 0) return faults.map((fault) => invalidValue(at, name, fault));
  return isNativeResource(name) && name !== 'storage' ? [fieldNotSupported(at, name, ['storage'])] : [];
}

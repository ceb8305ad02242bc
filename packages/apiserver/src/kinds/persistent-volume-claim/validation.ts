import {
  compareQuantities,
  deepEqual,
  type FieldError,
  fieldForbidden,
  type KubeObject,
  parseQuantity,
  type PersistentVolumeClaimSpec,
  type Quantity,
} from '@asterism/machinery';
import { type Fields, optionalFields, textAt } from '../fields/draft-fields.ts';
import { collectFaults } from '../validation/faults.ts';
import { FieldPath } from '../validation/field-path.ts';
import { validateImmutable } from '../validation/immutable-field.ts';
import { validateClaimSpec } from '../pod-spec/validate-volume-claim.ts';
import { internalForm } from '../validation/internal-form.ts';
import { unifiedDiff } from '../validation/unified-diff.ts';
import { invalidValue } from '../../registry/invalid-value.ts';

const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';
const CLASS = 'storageClassName';
const ATTRIBUTES = 'volumeAttributesClassName';

export function validateClaim(object: KubeObject): FieldError[] {
  return collectFaults((faults) =>
    validateClaimSpec(object.spec as PersistentVolumeClaimSpec | undefined, FieldPath.of('spec'), faults),
  );
}

export function validateClaimUpdate(object: KubeObject, old: KubeObject): FieldError[] {
  const faults = validateClaim(object);
  const spec = optionalFields(object, 'spec') ?? {};
  const before = optionalFields(old, 'spec') ?? {};
  const now = { ...spec };
  const was = { ...before };
  if (textAt(before, 'volumeName') === '') was.volumeName = spec.volumeName;
  const annotation = object.metadata?.annotations?.[CLASS_ANNOTATION];
  const oldAnnotation = old.metadata?.annotations?.[CLASS_ANNOTATION];
  const fromAnnotation = oldAnnotation !== undefined && before[CLASS] === undefined && spec[CLASS] === oldAnnotation;
  if (fromAnnotation && (annotation === undefined || annotation === oldAnnotation)) delete now[CLASS];
  else {
    if ((annotation ?? '') !== (oldAnnotation ?? ''))
      faults.push(invalidValue(`metadata.annotations.${CLASS_ANNOTATION}`, annotation ?? '', 'field is immutable'));
    const fromNone = spec[CLASS] !== undefined && before[CLASS] === undefined;
    if (fromNone && (oldAnnotation === undefined || spec[CLASS] === oldAnnotation)) delete now[CLASS];
  }
  if (optionalFields(object, 'status')?.phase === 'Bound') {
    const resources = optionalFields(now, 'resources');
    const storage = storageOf(before);
    if (resources?.requests !== undefined && storage !== undefined)
      now.resources = { ...resources, requests: { ...optionalFields(resources, 'requests'), storage } };
    if (now[ATTRIBUTES] !== undefined) now[ATTRIBUTES] = before[ATTRIBUTES];
  }
  const nowForm = internalForm('PersistentVolumeClaimSpec', now);
  const wasForm = internalForm('PersistentVolumeClaimSpec', was);
  if (!deepEqual(nowForm, wasForm)) {
    const detail = `spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n${unifiedDiff(wasForm, nowForm)}`;
    faults.push(fieldForbidden('spec', detail));
  }
  faults.push(...validateSize(object, old), ...validateImmutable(spec, before, '', ['volumeMode']));
  return [...faults, ...validateAttributesClass(spec, before)];
}

function storageOf(spec: Fields): unknown {
  return optionalFields(optionalFields(spec, 'resources'), 'requests')?.storage;
}

/** A claim may shrink to more than it has, so that an expansion that cannot be met can be taken back. */
function validateSize(object: KubeObject, old: KubeObject): FieldError[] {
  const size = (value: unknown): Quantity => parseQuantity((value ?? '0') as string);
  const now = size(storageOf(optionalFields(object, 'spec') ?? {}));
  const was = size(storageOf(optionalFields(old, 'spec') ?? {}));
  const actual = size(optionalFields(optionalFields(old, 'status'), 'capacity')?.storage);
  if (compareQuantities(now, was) >= 0 || compareQuantities(now, actual) > 0) return [];
  return [fieldForbidden('spec.resources.requests.storage', 'field can not be less than status.capacity')];
}

function validateAttributesClass(spec: Fields, before: Fields): FieldError[] {
  const now = spec[ATTRIBUTES];
  if (before[ATTRIBUTES] === undefined || now === before[ATTRIBUTES]) return [];
  if (now === undefined) return [fieldForbidden(`spec.${ATTRIBUTES}`, 'update from non-nil value to nil is forbidden')];
  if (now === '' && before[ATTRIBUTES] !== '')
    return [fieldForbidden(`spec.${ATTRIBUTES}`, 'update from non-nil value to an empty string is forbidden')];
  return [];
}

import {
  type FieldError,
  fieldForbidden,
  fieldRequired,
  fieldTooLong,
  type KubeObject,
  validateDns1123Subdomain,
} from '@asterism/machinery';
import { validateDriverName, validatePersistentVolumeSpec } from '../persistent-volume/validation.ts';
import { type Fields, numberAt, optionalFields, textAt } from '../fields/draft-fields.ts';
import { Faults } from '../validation/faults.ts';
import { FieldPath } from '../validation/field-path.ts';
import { invalidValues } from '../validation/name-formats.ts';
import { invalidValue } from '../../registry/invalid-value.ts';

const ONE_SOURCE = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
const MAX_METADATA_BYTES = 256 * 1024;
const MAX_ERROR_LENGTH = 1024;

export function validateAttachment(object: KubeObject): FieldError[] {
  const spec = optionalFields(object, 'spec') ?? {};
  const nodeName = textAt(spec, 'nodeName');
  const faults = new Faults();
  validateDriverName(textAt(spec, 'attacher'), FieldPath.of('spec').child('attacher'), faults);
  return [
    ...faults.found,
    ...validateSource(optionalFields(spec, 'source') ?? {}),
    ...invalidValues('spec.nodeName', nodeName, validateDns1123Subdomain(nodeName)),
    ...validateStatus(optionalFields(object, 'status')),
  ];
}

function validateSource(source: Fields): FieldError[] {
  const at = 'spec.source';
  const inline = optionalFields(source, 'inlineVolumeSpec');
  const name = source.persistentVolumeName;
  if (!inline && typeof name !== 'string') return [fieldRequired(at, ONE_SOURCE)];
  if (inline && typeof name === 'string') return [fieldForbidden(at, ONE_SOURCE)];
  if (typeof name === 'string') {
    if (name === '')
      return [fieldRequired(`${at}.persistentVolumeName`, 'must specify non empty persistentVolumeName')];
    return invalidValues(`${at}.persistentVolumeName`, name, validateDns1123Subdomain(name));
  }
  const faults = new Faults();
  const place = FieldPath.of('spec').child('source').child('inlineVolumeSpec');
  validatePersistentVolumeSpec(inline ?? {}, place, { name: '', inline: true, faults });
  return faults.found;
}

function validateStatus(status: Fields | undefined): FieldError[] {
  const entries = Object.entries(optionalFields(status, 'attachmentMetadata') ?? {});
  const bytes = entries.reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(value)),
    0,
  );
  const faults = bytes > MAX_METADATA_BYTES ? [fieldTooLong('status.attachmentMetadata', MAX_METADATA_BYTES)] : [];
  for (const key of ['attachError', 'detachError']) {
    const error = optionalFields(status, key);
    // The limit that upstream tells is not the one that it has.
    if (Buffer.byteLength(textAt(error, 'message')) > MAX_ERROR_LENGTH)
      faults.push(fieldTooLong(`status.${key}.message`, MAX_METADATA_BYTES));
    const code = numberAt(error, 'errorCode') ?? 0;
    if (code < 0)
      faults.push(invalidValue(`status.${key}.errorCode`, code, 'must be between 0 and 2147483647, inclusive'));
  }
  return faults;
}

import type { FieldError, KubeObject } from '@asterism/machinery';
import { bytesOf, validateDataKey, validateDataSize, validateImmutableData } from './data-keys.ts';
import { optionalFields } from '../fields/draft-fields.ts';
import { invalidValue } from '../../registry/invalid-value.ts';
import type { Kind } from '../../contract/kind.ts';

export const configMapKind: Kind = {
  groupResource: 'configmaps',
  strategy: {
    metadataChecks: 4,
    validateCreate: validateConfigMap,
    validateUpdate: (object, old) => [
      ...validateImmutableData(object, old, ['data', 'binaryData']),
      ...validateConfigMap(object),
    ],
  },
};

function validateConfigMap(object: KubeObject): FieldError[] {
  const data = optionalFields(object, 'data') ?? {};
  const binaryData = optionalFields(object, 'binaryData') ?? {};
  const faults: FieldError[] = [];
  for (const key of Object.keys(data)) {
    faults.push(...validateDataKey(key, 'data'));
    if (Object.hasOwn(binaryData, key))
      faults.push(invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'));
  }
  for (const key of Object.keys(binaryData)) faults.push(...validateDataKey(key, 'binaryData'));
  // Upstream's way to name the whole object.
  return [...faults, ...validateDataSize(bytesOf(data, 'utf8') + bytesOf(binaryData, 'base64'), '[]')];
}

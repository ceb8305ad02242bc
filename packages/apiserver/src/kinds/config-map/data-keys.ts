import { deepEqual, type FieldError, fieldForbidden, fieldTooLong, type KubeObject } from '@asterism/machinery';
import type { Fields } from '../fields/draft-fields.ts';
import { validateConfigKey } from '../validation/validate-text.ts';
import { invalidValue } from '../../registry/invalid-value.ts';

/** A ConfigMap or Secret may have this many bytes of data in all. */
const DATA_LIMIT = 1024 * 1024;

/** Keys of a ConfigMap or Secret are names of files. */
export function validateDataKey(key: string, at: string): FieldError[] {
  return validateConfigKey(key).map((fault) => invalidValue(`${at}[${key}]`, key, fault));
}

export function validateDataSize(bytes: number, at: string): FieldError[] {
  return bytes > DATA_LIMIT ? [fieldTooLong(at, DATA_LIMIT)] : [];
}

export function bytesOf(data: Fields, encoding: 'utf8' | 'base64'): number {
  let bytes = 0;
  for (const value of Object.values(data)) bytes += Buffer.byteLength(String(value), encoding);
  return bytes;
}

/** `immutable: true` can neither be taken back nor be got round. */
export function validateImmutableData(object: KubeObject, old: KubeObject, parts: readonly string[]): FieldError[] {
  if (old.immutable !== true) return [];
  const detail = 'field is immutable when `immutable` is set';
  return [
    ...(object.immutable === true ? [] : [fieldForbidden('immutable', detail)]),
    ...parts
      .filter((part) => !deepEqual(object[part] ?? {}, old[part] ?? {}))
      .map((part) => fieldForbidden(part, detail)),
  ];
}

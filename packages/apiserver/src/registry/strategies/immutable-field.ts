import { deepEqual, type FieldError } from '@asterism/machinery';
import { invalidValue } from '../strategy.ts';
import type { Fields } from './draft-fields.ts';

/** A fault for each of `keys` that differs between `now` and `old`. */
export function validateImmutable(
  now: Fields | undefined,
  old: Fields | undefined,
  at: string,
  keys: readonly string[],
): FieldError[] {
  return keys.flatMap((key) => {
    const value = now?.[key];
    if (deepEqual(value ?? null, old?.[key] ?? null)) return [];
    const field = at === '' ? key : `${at}.${key}`;
    return [invalidValue(field, value ?? null, 'field is immutable')];
  });
}

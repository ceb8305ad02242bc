import { deepEqual, type FieldError } from '@asterism/machinery';
import type { Fields } from '../fields/draft-fields.ts';
import { internalForm } from './internal-form.ts';
import { invalidValue } from '../../registry/invalid-value.ts';

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

/** The same for one struct, which messages show as Go writes the internal type of this name. */
export function validateInternalImmutable(
  now: Fields | undefined,
  old: Fields | undefined,
  { at, key, type, detail = 'field is immutable' }: { at: string; key: string; type: string; detail?: string },
): FieldError[] {
  const value = now?.[key] as object | null | undefined;
  if (deepEqual(value ?? null, old?.[key] ?? null)) return [];
  return [invalidValue(at === '' ? key : `${at}.${key}`, value ? internalForm(type, value) : null, detail)];
}

import { type FieldError, fieldDuplicate, fieldInvalid, fieldInvalidJson } from '@asterism/machinery';

/** An object or list is shown with its members in the order in which it has them, as Go shows a struct. */
export function invalidValue(field: string, value: unknown, detail: string): FieldError {
  if (typeof value !== 'object' || value === null) return fieldInvalid(field, value, detail);
  return fieldInvalidJson(field, JSON.stringify(value), detail);
}

export function duplicateValue(field: string, value: unknown): FieldError {
  if (typeof value !== 'object' || value === null) return fieldDuplicate(field, value);
  return { type: 'FieldValueDuplicate', field, message: `Duplicate value: ${JSON.stringify(value)}` };
}

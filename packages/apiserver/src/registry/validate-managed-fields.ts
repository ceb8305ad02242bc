import { type FieldError, fieldTooLong, type ManagedFieldsEntry } from '@asterism/machinery';
import { invalidValue } from './invalid-value.ts';

const MAX_MANAGER_BYTES = 128;
const MAX_SUBRESOURCE_BYTES = 256;
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** apimachinery's `ValidateManagedFields`: of what a client writes there itself; what cannot be read at all is dropped before. */
export function validateManagedFields(entries: readonly ManagedFieldsEntry[], at: string): FieldError[] {
  return entries.flatMap((entry, index) => validateEntry(entry, `${at}[${index}]`));
}

function validateEntry({ manager = '', subresource = '' }: Partial<ManagedFieldsEntry>, at: string): FieldError[] {
  const faults: FieldError[] = [];
  if (Buffer.byteLength(manager) > MAX_MANAGER_BYTES) faults.push(fieldTooLong(`${at}.manager`, MAX_MANAGER_BYTES));
  let position = 0;
  for (const character of manager) {
    if (!PRINTABLE.test(character)) {
      const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
      const detail = `invalid character U+${code} (at position ${position})`;
      faults.push(invalidValue(`${at}.manager`, manager, detail));
    }
    position += Buffer.byteLength(character);
  }
  if (Buffer.byteLength(subresource) > MAX_SUBRESOURCE_BYTES) {
    faults.push(fieldTooLong(`${at}.subresource`, MAX_SUBRESOURCE_BYTES));
  }
  return faults;
}

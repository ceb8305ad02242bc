import { cutForMessage } from '../cut-for-message.ts';
import type { FieldError, FieldErrorType } from '../status.ts';
import { escapeHtml, formatGoJson, formatGoNumber, quoteGo } from './go-format.ts';

/** Faults of fields in the words of apimachinery's `field` package. `detail` follows the value after a colon. */

export function fieldRequired(field: string, detail = ''): FieldError {
  return fieldError('FieldValueRequired', field, 'Required value', detail);
}

export function fieldInvalid(field: string, value: unknown, detail: string): FieldError {
  return fieldError('FieldValueInvalid', field, `Invalid value: ${formatValue(value)}`, detail);
}

/** The same for a value that is shown by a JSON text of its own, e.g. as Go writes an internal type. */
export function fieldInvalidJson(field: string, json: string, detail: string): FieldError {
  return fieldError('FieldValueInvalid', field, `Invalid value: ${escapeHtml(cutForMessage(json))}`, detail);
}

export function fieldTypeInvalid(field: string, value: unknown, detail: string): FieldError {
  return fieldError('FieldValueTypeInvalid', field, `Invalid value: ${formatValue(value)}`, detail);
}

export function fieldNotSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const detail = supported.length > 0 ? `supported values: ${supported.map(quoteGo).join(', ')}` : '';
  return fieldError('FieldValueNotSupported', field, `Unsupported value: ${formatValue(value)}`, detail);
}

export function fieldDuplicate(field: string, value: unknown): FieldError {
  return fieldError('FieldValueDuplicate', field, `Duplicate value: ${formatValue(value)}`, '');
}

export function fieldForbidden(field: string, detail: string): FieldError {
  return fieldError('FieldValueForbidden', field, 'Forbidden', detail);
}

export function fieldTooLong(field: string, maxBytes: number): FieldError {
  return fieldError(
    'FieldValueTooLong',
    field,
    'Too long',
    `may not be more than ${maxBytes} ${maxBytes === 1 ? 'byte' : 'bytes'}`,
  );
}

export function fieldTooMany(field: string, actual: number, max: number): FieldError {
  return fieldError(
    'FieldValueTooMany',
    field,
    `Too many: ${actual}`,
    `must have at most ${max} ${max === 1 ? 'item' : 'items'}`,
  );
}

function fieldError(type: FieldErrorType, field: string, body: string, detail: string): FieldError {
  return { type, field, message: detail === '' ? body : `${body}: ${detail}` };
}

function formatValue(value: unknown): string {
  if (typeof value === 'string') return quoteGo(value);
  if (typeof value === 'number') return formatGoNumber(value);
  return cutForMessage(formatGoJson(value));
}

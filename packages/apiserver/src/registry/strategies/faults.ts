import {
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  fieldTooMany,
} from '@asterism/machinery';
import type { FieldPath } from './field-path.ts';

/** The faults that a validation has found so far, in the order in which it found them. */
export class Faults {
  readonly found: FieldError[] = [];

  required(at: FieldPath, detail = ''): void {
    this.found.push(fieldRequired(at.toString(), detail));
  }

  invalid(at: FieldPath, value: unknown, detail: string): void {
    this.found.push(fieldInvalid(at.toString(), value, detail));
  }

  /** One fault for each of `details`. */
  invalidEach(at: FieldPath, value: unknown, details: readonly string[]): void {
    for (const detail of details) this.invalid(at, value, detail);
  }

  /** As {@link invalid}, for a value whose fields are in the order in which Go has them. */
  invalidStruct(at: FieldPath, value: object, detail: string): void {
    const text = JSON.stringify(value).replaceAll(/[<>&]/g, (mark) => `\\u00${mark.charCodeAt(0).toString(16)}`);
    this.found.push({ type: 'FieldValueInvalid', field: at.toString(), message: `Invalid value: ${text}: ${detail}` });
  }

  /** A fault whose value is not told. */
  invalidWithoutValue(at: FieldPath, detail: string): void {
    this.found.push({ type: 'FieldValueInvalid', field: at.toString(), message: `Invalid value: ${detail}` });
  }

  notSupported(at: FieldPath, value: unknown, supported: readonly string[]): void {
    this.found.push(fieldNotSupported(at.toString(), value, supported));
  }

  forbidden(at: FieldPath, detail: string): void {
    this.found.push(fieldForbidden(at.toString(), detail));
  }

  duplicate(at: FieldPath, value: unknown): void {
    this.found.push(fieldDuplicate(at.toString(), value));
  }

  notFound(at: FieldPath, value: string, detail = ''): void {
    const message = `Not found: ${JSON.stringify(value)}`;
    this.found.push({
      type: 'FieldValueNotFound',
      field: at.toString(),
      message: detail === '' ? message : `${message}: ${detail}`,
    });
  }

  tooLong(at: FieldPath, maxBytes: number): void {
    this.found.push(fieldTooLong(at.toString(), maxBytes));
  }

  tooMany(at: FieldPath, actual: number, max: number): void {
    this.found.push(fieldTooMany(at.toString(), actual, max));
  }

  notNegative(at: FieldPath, name: string, value: number | undefined): void {
    if (value !== undefined && value < 0) this.invalid(at.child(name), value, NOT_NEGATIVE);
  }
}

/** What is wrong with a number below zero. */
export const NOT_NEGATIVE = 'must be greater than or equal to 0';

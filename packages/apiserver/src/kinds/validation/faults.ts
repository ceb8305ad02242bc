import {
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  fieldTooMany,
  MAX_TOLD_FAULTS,
} from '@asterism/machinery';
import type { FieldPath } from './field-path.ts';

/** So many faults are kept: one more than an answer tells, so that it can say that there are more. */
const MOST_KEPT = MAX_TOLD_FAULTS + 1;

/**
 * The faults that a validation has found so far, in the order in which it found them. Those that no answer would tell are not
 * even written: their texts would cost more than the rest of the validation.
 */
export class Faults {
  readonly #found: FieldError[] = [];

  get found(): FieldError[] {
    return this.#found;
  }

  add(fault: FieldError): void {
    this.#add(() => fault);
  }

  addAll(faults: readonly FieldError[]): void {
    for (const fault of faults) this.add(fault);
  }

  required(at: FieldPath, detail = ''): void {
    this.#add(() => fieldRequired(at.toString(), detail));
  }

  invalid(at: FieldPath, value: unknown, detail: string): void {
    this.#add(() => fieldInvalid(at.toString(), value, detail));
  }

  /** One fault for each of `details`. */
  invalidEach(at: FieldPath, value: unknown, details: readonly string[]): void {
    for (const detail of details) this.invalid(at, value, detail);
  }

  /** As {@link invalid}, for a value whose fields are in the order in which Go has them. */
  invalidStruct(at: FieldPath, value: object, detail: string): void {
    this.#add(() => {
      const text = JSON.stringify(value).replaceAll(/[<>&]/g, (mark) => `\\u00${mark.charCodeAt(0).toString(16)}`);
      return { type: 'FieldValueInvalid', field: at.toString(), message: `Invalid value: ${text}: ${detail}` };
    });
  }

  /** A fault whose value is not told. */
  invalidWithoutValue(at: FieldPath, detail: string): void {
    this.#add(() => ({ type: 'FieldValueInvalid', field: at.toString(), message: `Invalid value: ${detail}` }));
  }

  notSupported(at: FieldPath, value: unknown, supported: readonly string[]): void {
    this.#add(() => fieldNotSupported(at.toString(), value, supported));
  }

  forbidden(at: FieldPath, detail: string): void {
    this.#add(() => fieldForbidden(at.toString(), detail));
  }

  duplicate(at: FieldPath, value: unknown): void {
    this.#add(() => fieldDuplicate(at.toString(), value));
  }

  notFound(at: FieldPath, value: string, detail = ''): void {
    const message = `Not found: ${JSON.stringify(value)}`;
    this.#add(() => ({
      type: 'FieldValueNotFound',
      field: at.toString(),
      message: detail === '' ? message : `${message}: ${detail}`,
    }));
  }

  tooLong(at: FieldPath, maxBytes: number): void {
    this.#add(() => fieldTooLong(at.toString(), maxBytes));
  }

  tooMany(at: FieldPath, actual: number, max: number): void {
    this.#add(() => fieldTooMany(at.toString(), actual, max));
  }

  notNegative(at: FieldPath, name: string, value: number | undefined): void {
    if (value !== undefined && value < 0) this.invalid(at.child(name), value, NOT_NEGATIVE);
  }

  #add(write: () => FieldError): void {
    if (this.#found.length < MOST_KEPT) this.#found.push(write());
  }
}

/** What is wrong with a number below zero. */
export const NOT_NEGATIVE = 'must be greater than or equal to 0';

/** The faults that `validate` finds. */
export function collectFaults(validate: (faults: Faults) => void): FieldError[] {
  const faults = new Faults();
  validate(faults);
  return faults.found;
}

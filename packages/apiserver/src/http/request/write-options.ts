import { badRequest, type FieldError, invalid } from '@asterism/machinery';
import type { Headers } from '../../contract/api-request.ts';
import { firstHeader } from '../../contract/first-header.ts';
import { isTrue } from '../../contract/request-info.ts';
import type { FieldValidation } from '../../contract/field-validation.ts';

const MAX_FIELD_MANAGER_BYTES = 128;
const FIELD_VALIDATIONS: readonly string[] = ['', 'Ignore', 'Strict', 'Warn'];

export interface WriteOptions {
  dryRun: boolean;
  fieldManager: string;
  fieldValidation: FieldValidation;
  force: boolean | undefined;
}

export interface WriteOptionsSource {
  query: URLSearchParams;
  headers: Headers;
}

/**
 * The options of a write, checked as upstream checks `CreateOptions`, `UpdateOptions` and `PatchOptions` (`kind`): 422 with
 * a cause for each that is wrong. The field manager defaults to the user agent up to its first slash.
 */
export function readWriteOptions(
  { query, headers }: WriteOptionsSource,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  isApply = false,
): WriteOptions {
  const fieldManager = query.get('fieldManager') ?? '';
  const fieldValidation = query.get('fieldValidation') ?? '';
  const force = readBoolean(query, 'force');
  const errors: FieldError[] = [];
  if (kind === 'PatchOptions' && !isApply && force !== undefined) {
    errors.push({
      type: 'FieldValueForbidden',
      field: 'force',
      message: 'Forbidden: may not be specified for non-apply patch',
    });
  }
  if (isApply && fieldManager === '') {
    errors.push({
      type: 'FieldValueRequired',
      field: 'fieldManager',
      message: 'Required value: is required for apply patch',
    });
  }
  errors.push(...checkFieldManager(fieldManager), ...checkDryRun(query.getAll('dryRun')));
  if (!FIELD_VALIDATIONS.includes(fieldValidation)) {
    errors.push(unsupported('fieldValidation', JSON.stringify(fieldValidation), FIELD_VALIDATIONS));
  }
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind }, '', errors);
  return {
    dryRun: query.has('dryRun'),
    fieldManager: fieldManager || managerFromUserAgent(firstHeader(headers, 'user-agent')),
    fieldValidation: (fieldValidation || 'Warn') as FieldValidation,
    force,
  };
}

/** `dryRun` knows one value, `All`. */
export function checkDryRun(values: readonly string[]): FieldError[] {
  if (values.every((value) => value === 'All')) return [];
  return [unsupported('dryRun', `[${values.map((value) => JSON.stringify(value)).join(', ')}]`, ['All'])];
}

function unsupported(field: string, value: string, supported: readonly string[]): FieldError {
  const list = supported.map((text) => JSON.stringify(text)).join(', ');
  return { type: 'FieldValueNotSupported', field, message: `Unsupported value: ${value}: supported values: ${list}` };
}

function checkFieldManager(name: string): FieldError[] {
  const errors: FieldError[] = [];
  const field = 'fieldManager';
  if (Buffer.byteLength(name) > MAX_FIELD_MANAGER_BYTES) {
    const message = `Too long: may not be more than ${MAX_FIELD_MANAGER_BYTES} bytes`;
    errors.push({ type: 'FieldValueTooLong', field, message });
  }
  const characters = Array.from(name);
  const position = characters.findIndex((character) => !isPrintable(character));
  if (position >= 0) {
    const code = characters[position]!.codePointAt(0)!;
    const shown = JSON.stringify(name).replace(/\\u00(..)/g, '\\x$1');
    const character = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
    const message = `Invalid value: ${shown}: invalid character ${character} (at position ${position})`;
    errors.push({ type: 'FieldValueInvalid', field, message });
  }
  return errors;
}

function isPrintable(character: string): boolean {
  return /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(character);
}

function managerFromUserAgent(agent = ''): string {
  const name = Array.from(agent.split('/')[0]!).filter(isPrintable).join('');
  return name.slice(0, MAX_FIELD_MANAGER_BYTES) || 'unknown';
}

/** A boolean of the query; undefined where it is not given. */
export function readBoolean(query: URLSearchParams, name: string): boolean | undefined {
  return query.has(name) ? isTrue(query.get(name)) : undefined;
}

const MAX_INT64 = 2n ** 63n - 1n;

/** An integer of 64 bits of the query; undefined where it is not given or empty. 400 where it is none. */
export function readInteger(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null || value === '') return undefined;
  const parsing = `strconv.ParseInt: parsing ${JSON.stringify(value)}`;
  const [, sign, written] = /^([+-]?)(\d+)$/.exec(value) ?? [];
  if (written === undefined) throw badRequest(`${parsing}: invalid syntax`);
  const digits = written.replace(/^0+/, '');
  const most = sign === '-' ? MAX_INT64 + 1n : MAX_INT64;
  // Digits that are too many are not read as a number first: that would take long.
  if (digits.length > 19 || BigInt(digits) > most) throw badRequest(`${parsing}: value out of range`);
  return Number(value);
}

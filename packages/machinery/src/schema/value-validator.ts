import { deepEqual } from '../deep-equal.ts';
import { isJsonObject, ownMember } from '../json-object.ts';
import type { FieldError } from '../status.ts';
import {
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  fieldTooMany,
  fieldTypeInvalid,
} from './field-errors.ts';
import { isEnforcedFormat, matchesFormat } from './formats.ts';
import { formatGoFloat, formatGoJson, formatGoNumber, quoteGo } from './go-format.ts';
import { listItemsByKey } from './list-keys.ts';
import type { StructuralSchema } from './structural-schema.ts';

type ValueType = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object';

/** What a number is called where a text of some format is wanted. */
const GO_FORMATS: Readonly<Record<string, string>> = { integer: 'int64', number: 'float64' };

/** After more faults than an answer tells nothing further is looked at. */
const MAX_FAULTS = 1000;

/**
 * Checks a value against the value validations of a schema, fault for fault in the order and the words of a kube-apiserver
 * (kube-openapi's validator, as ValidateCustomResource reports it).
 *
 * What is equal to the old value at the same place is not checked again (ratcheting, KEP-4008).
 */
export class ValueValidator {
  readonly errors: FieldError[] = [];
  readonly #root: string;
  /** Checks passed so far: of several failed alternatives the one with most is reported. */
  #matches = 0;

  /** @param root the field of the value itself; empty for a whole object. */
  constructor(root: string) {
    this.#root = root;
  }

  /** @param path of the value below the root, as it stands in messages. */
  validate(schema: StructuralSchema, value: unknown, path: string, old: unknown): void {
    if (this.errors.length > MAX_FAULTS || (old !== undefined && deepEqual(value, old))) return;
    const type = typeOf(value);
    this.#matches += 1;
    // A value of the wrong type is looked at further, as upstream.
    this.#checkType(schema, type, path);
    if (type === 'null') return this.#checkEnum(schema, value, path);
    if (schema.hasJunctors) this.#checkJunctors(schema, value, path, old);
    if (typeof value === 'string') this.#checkString(schema, value, path);
    else if (typeof value === 'number') this.#checkNumber(schema, value, path);
    else if (Array.isArray(value)) this.#checkList(schema, value, path, Array.isArray(old) ? old : undefined);
    this.#checkEnum(schema, value, path);
    if (isJsonObject(value)) this.#checkObject(schema, value, path, isJsonObject(old) ? old : undefined);
    this.#matches += 1;
  }

  #fieldOf(path: string): string {
    const relative = path.startsWith('.') ? path.slice(1) : path;
    if (this.#root === '' || relative === '') return this.#root || relative;
    return relative.startsWith('[') ? this.#root + relative : `${this.#root}.${relative}`;
  }

  /** A fault that upstream knows no field of. */
  #general(message: string): void {
    this.errors.push(fieldInvalid(this.#root || '<nil>', '', message));
  }

  #checkType(schema: StructuralSchema, type: ValueType, path: string): void {
    const wanted = schema.intOrString ? 'integer,string' : (schema.type ?? '');
    const { format } = schema.source;
    const isTextual = type === 'string' || type === 'array';
    const typed = wanted === type || (wanted === 'number' && type === 'integer') || fitsIntOrString(schema, type);
    const hasFormat = format !== undefined && isEnforcedFormat(format);
    if (type === 'null' ? wanted === '' || schema.nullable : typed || (wanted === '' && !hasFormat)) {
      this.#matches += 1;
    } else if (hasFormat && type !== 'null' && !isTextual) {
      this.#wrongType(path, format, GO_FORMATS[type] ?? '');
    } else if (hasFormat && isTextual && wanted !== 'number' && wanted !== 'integer' && !schema.intOrString) {
      // A text with a format is left to the check of the format, whatever type is asked for besides.
      this.#matches += 1;
    } else this.#wrongType(path, wanted, type);
  }

  #wrongType(path: string, wanted: string, found: string): void {
    const rule = `${path} in body must be of type ${wanted}: ${quoteGo(found)}`;
    this.errors.push(fieldTypeInvalid(this.#fieldOf(path), found, rule));
  }

  #checkJunctors(schema: StructuralSchema, value: unknown, path: string, old: unknown): void {
    const { source } = schema;
    if (source.anyOf) {
      const { valid, faults } = this.#try(schema.branches('anyOf'), value, path, old);
      if (valid === 0) {
        this.#general(`${quoteGo(path)} must validate at least one schema (anyOf)`);
        this.errors.push(...faults);
      }
    }
    if (source.oneOf) {
      const { valid, faults } = this.#try(schema.branches('oneOf'), value, path, old);
      if (valid !== 1) {
        const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
        this.#general(`${quoteGo(path)} must validate one and only one schema (oneOf). ${found}`);
        if (valid === 0) this.errors.push(...faults);
      }
    }
    if (source.allOf) {
      const branches = schema.branches('allOf');
      let valid = 0;
      for (const branch of branches) {
        const before = this.errors.length;
        this.validate(branch, value, path, old);
        if (this.errors.length === before) valid += 1;
      }
      const none = valid === 0 ? '. None validated' : '';
      if (valid < branches.length) this.#general(`${quoteGo(path)} must validate all the schemas (allOf)${none}`);
    }
    if (source.not && this.#try(schema.branches('not'), value, path, old).valid > 0) {
      this.#general(`${quoteGo(path)} must not validate the schema (not)`);
    }
  }

  /** How many branches fit, and where none does, the faults of the one that got furthest. */
  #try(
    branches: readonly StructuralSchema[],
    value: unknown,
    path: string,
    old: unknown,
  ): { valid: number; faults: readonly FieldError[] } {
    let valid = 0;
    let best: ValueValidator | undefined;
    for (const branch of branches) {
      const attempt = new ValueValidator(this.#root);
      attempt.validate(branch, value, path, old);
      if (attempt.errors.length === 0) valid += 1;
      else if (!best || attempt.#matches > best.#matches) best = attempt;
    }
    return { valid, faults: best?.errors ?? [] };
  }

  #checkString(schema: StructuralSchema, value: string, path: string): void {
    const { maxLength, minLength, pattern, format } = schema.source;
    const fail = (rule: string) =>
      this.errors.push(fieldInvalid(this.#fieldOf(path), value, `${path} in body ${rule}`));
    if (maxLength !== undefined && value.length > maxLength && lengthOf(value) > maxLength) {
      this.errors.push(fieldTooLong(this.#fieldOf(path), maxLength));
    } else if (minLength !== undefined && (value.length < minLength || lengthOf(value) < minLength)) {
      fail(`should be at least ${minLength} chars long`);
    } else if (pattern && !(schema.pattern?.test(value) ?? true)) {
      fail(`should match '${pattern}'`);
    }
    if (format !== undefined && !matchesFormat(value, format)) {
      const rule = `${path} in body must be of type ${format}: ${quoteGo(value)}`;
      this.errors.push(fieldTypeInvalid(this.#fieldOf(path), value, rule));
    }
  }

  #checkNumber(schema: StructuralSchema, value: number, path: string): void {
    const { multipleOf, maximum, exclusiveMaximum, minimum, exclusiveMinimum } = schema.source;
    const fail = (rule: string) =>
      this.errors.push(fieldInvalid(this.#fieldOf(path), value, `${path} in body should be ${rule}`));
    // Of an integer schema the value and each limit must be whole numbers.
    const wholeOnly = schema.type === 'integer' && !schema.intOrString;
    const limit = (number: number, name: string): number => {
      if (wholeOnly && !Number.isInteger(number)) {
        this.#general(`${name} value must be of type integer (default format) in ${path}`);
        return number;
      }
      // Upstream compares an integer with the limit cut to an integer.
      return Number.isInteger(value) ? Math.trunc(number) : number;
    };
    if (wholeOnly) limit(value, 'Checked');
    if (multipleOf !== undefined && !isMultiple(value, multipleOf)) fail(`a multiple of ${formatGoFloat(multipleOf)}`);
    if (minimum !== undefined) {
      const least = limit(minimum, 'Minimum boundary');
      if (exclusiveMinimum ? value <= least : value < least) {
        fail(`greater than ${exclusiveMinimum ? '' : 'or equal to '}${formatLimit(value, least)}`);
      }
    }
    if (maximum !== undefined) {
      const most = limit(maximum, 'Maximum boundary');
      if (exclusiveMaximum ? value >= most : value > most) {
        fail(`less than ${exclusiveMaximum ? '' : 'or equal to '}${formatLimit(value, most)}`);
      }
    }
  }

  #checkList(
    schema: StructuralSchema,
    list: readonly unknown[],
    path: string,
    old: readonly unknown[] | undefined,
  ): void {
    const { items, source } = schema;
    if (items) {
      const before = old && listItemsByKey(schema, old);
      for (let i = 0; i < list.length; i++) {
        this.validate(items, list[i], `${path}[${i}]`, before?.(list[i]));
      }
    }
    const { minItems, maxItems, uniqueItems } = source;
    if (minItems === undefined && maxItems === undefined && !uniqueItems) return;
    const field = this.#fieldOf(path);
    if (minItems !== undefined && list.length < minItems) {
      this.errors.push(fieldInvalid(field, list.length, `${path} in body should have at least ${minItems} items`));
    }
    if (maxItems !== undefined && list.length > maxItems) this.errors.push(fieldTooMany(field, list.length, maxItems));
    if (uniqueItems && list.some((item, i) => list.slice(0, i).some((other) => deepEqual(item, other)))) {
      this.errors.push(fieldInvalid(field, '', `${path} in body shouldn't contain duplicates`));
    }
  }

  #checkEnum({ source }: StructuralSchema, value: unknown, path: string): void {
    if (!source.enum || source.enum.some((allowed) => deepEqual(allowed, value))) return;
    // A fraction is compared with an integer as the integer below it.
    if (typeof value === 'number' && source.enum.includes(Math.trunc(value))) return;
    const supported = source.enum.map((allowed) => (typeof allowed === 'string' ? allowed : formatGoJson(allowed)));
    this.errors.push(fieldNotSupported(this.#fieldOf(path), value, supported));
  }

  #checkObject(
    schema: StructuralSchema,
    object: Record<string, unknown>,
    path: string,
    old: Record<string, unknown> | undefined,
  ): void {
    const { minProperties, maxProperties, required, additionalProperties } = schema.source;
    const keys = Object.keys(object);
    if (minProperties !== undefined && keys.length < minProperties) {
      const rule = `${path} in body should have at least ${minProperties} properties`;
      return void this.errors.push(fieldInvalid(this.#fieldOf(path), keys.length, rule));
    }
    if (maxProperties !== undefined && keys.length > maxProperties) {
      return void this.errors.push(fieldTooMany(this.#fieldOf(path), keys.length, maxProperties));
    }
    const { declared, additional } = schema;
    if (additional || additionalProperties === false) {
      for (const key of keys) if (!declared.has(key)) this.#checkUndeclared(schema, object, key, path, old);
    }
    for (const key of keys) {
      const child = declared.get(key);
      if (child) this.validate(child, object[key], path === '' ? key : `${path}.${key}`, old && ownMember(old, key));
    }
    for (const key of required ?? []) {
      const isDefaulted = (declared.get(key)?.source.default ?? null) !== null;
      if (!Object.hasOwn(object, key) && !isDefaulted) {
        this.errors.push(fieldRequired(this.#fieldOf(`${path}.${key}`)));
      }
    }
  }

  #checkUndeclared(
    { additional }: StructuralSchema,
    object: Record<string, unknown>,
    key: string,
    path: string,
    old: Record<string, unknown> | undefined,
  ): void {
    const childPath = `${path}.${key}`;
    if (additional) this.validate(additional, object[key], childPath, old && ownMember(old, key));
    else {
      const rule = `${childPath} in body is a forbidden property`;
      this.errors.push(fieldInvalid(this.#fieldOf(childPath), '', rule));
    }
  }
}

function typeOf(value: unknown): ValueType {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value as ValueType;
}

function fitsIntOrString({ intOrString }: StructuralSchema, type: ValueType): boolean {
  return intOrString && (type === 'integer' || type === 'string');
}

/** In characters, as Go counts runes. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

function isMultiple(value: number, factor: number): boolean {
  return Number.isInteger(factor < 1 ? (1 / factor) * value : value / factor);
}

/** An integer is compared with an integer, and that is then printed in full. */
function formatLimit(value: number, limit: number): string {
  return Number.isInteger(value) ? formatGoNumber(limit) : formatGoFloat(limit);
}

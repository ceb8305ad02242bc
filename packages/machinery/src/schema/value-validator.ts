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
import { formatGoFloat, formatGoJson, quoteGo } from './go-format.ts';
import { compileGoPattern } from './go-regexp.ts';
import { sameListItem } from './list-keys.ts';
import type { StructuralSchema } from './structural-schema.ts';

type ValueType = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object';

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
    if (old !== undefined && deepEqual(value, old)) return;
    const type = typeOf(value);
    this.#matches += 1;
    if (!this.#checkType(schema, value, type, path)) return;
    if (type === 'null') return this.#checkEnum(schema, value, path);
    this.#checkJunctors(schema, value, path, old);
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

  #checkType(schema: StructuralSchema, value: unknown, type: ValueType, path: string): boolean {
    const wanted = schema.intOrString ? 'integer,string' : (schema.type ?? '');
    if (type === 'null' ? wanted === '' || schema.nullable : fits(schema, wanted, value, type)) {
      this.#matches += 1;
      return true;
    }
    this.errors.push(
      fieldTypeInvalid(this.#fieldOf(path), type, `${path} in body must be of type ${wanted}: ${quoteGo(type)}`),
    );
    // The other checks of a value of the wrong type add nothing, except that of a fraction where an integer is wanted.
    if (type === 'number' && wanted === 'integer') {
      this.#general(`Checked value must be of type integer (default format) in ${path}`);
    }
    return false;
  }

  #checkJunctors(schema: StructuralSchema, value: unknown, path: string, old: unknown): void {
    const { source } = schema;
    if (source.anyOf) {
      const results = this.#alternatives(schema.branches('anyOf'), value, path, old);
      if (!results.some((result) => result.length === 0)) {
        this.#general(`${quoteGo(path)} must validate at least one schema (anyOf)`);
        this.errors.push(...(results[0] ?? []));
      }
    }
    if (source.oneOf && !schema.intOrString) {
      const results = this.#alternatives(schema.branches('oneOf'), value, path, old);
      const valid = results.filter((result) => result.length === 0).length;
      if (valid !== 1) {
        const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
        this.#general(`${quoteGo(path)} must validate one and only one schema (oneOf). ${found}`);
        if (valid === 0) this.errors.push(...(results[0] ?? []));
      }
    }
    if (source.allOf) {
      const before = this.errors.length;
      for (const branch of schema.branches('allOf')) this.validate(branch, value, path, old);
      if (this.errors.length > before) this.#general(`${quoteGo(path)} must validate all the schemas (allOf)`);
    }
    if (source.not && this.#alternatives(schema.branches('not'), value, path, old)[0]?.length === 0) {
      this.#general(`${quoteGo(path)} must not validate the schema (not)`);
    }
  }

  /** The faults of each branch, the branch that matched best first. */
  #alternatives(branches: readonly StructuralSchema[], value: unknown, path: string, old: unknown): FieldError[][] {
    const results = branches.map((branch) => {
      const attempt = new ValueValidator(this.#root);
      attempt.validate(branch, value, path, old);
      return { errors: attempt.errors, matches: attempt.#matches };
    });
    return results.sort((a, b) => b.matches - a.matches).map(({ errors }) => errors);
  }

  #checkString({ source }: StructuralSchema, value: string, path: string): void {
    const { maxLength, minLength, pattern, format } = source;
    const field = this.#fieldOf(path);
    if (maxLength !== undefined && lengthOf(value) > maxLength) {
      this.errors.push(fieldTooLong(field, maxLength));
    } else if (minLength !== undefined && lengthOf(value) < minLength) {
      this.errors.push(fieldInvalid(field, value, `${path} in body should be at least ${minLength} chars long`));
    } else if (pattern && !(compileGoPattern(pattern)?.test(value) ?? true)) {
      this.errors.push(fieldInvalid(field, value, `${path} in body should match '${pattern}'`));
    }
    if (format !== undefined && !matchesFormat(value, format)) {
      this.errors.push(fieldTypeInvalid(field, value, `${path} in body must be of type ${format}: ${quoteGo(value)}`));
    }
  }

  #checkNumber({ source }: StructuralSchema, value: number, path: string): void {
    const { multipleOf, maximum, exclusiveMaximum, minimum, exclusiveMinimum } = source;
    const fail = (rule: string) =>
      this.errors.push(fieldInvalid(this.#fieldOf(path), value, `${path} in body should be ${rule}`));
    if (multipleOf !== undefined && !Number.isInteger(value / multipleOf)) {
      fail(`a multiple of ${formatGoFloat(multipleOf)}`);
    }
    if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
      fail(`less than ${exclusiveMaximum ? '' : 'or equal to '}${formatGoFloat(maximum)}`);
    }
    if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
      fail(`greater than ${exclusiveMinimum ? '' : 'or equal to '}${formatGoFloat(minimum)}`);
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
      for (let i = 0; i < list.length; i++) {
        this.validate(items, list[i], `${path}[${i}]`, old && sameListItem(schema, old, list[i]));
      }
    }
    const { minItems, maxItems, uniqueItems } = source;
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
    const field = this.#fieldOf(path);
    if (minProperties !== undefined && keys.length < minProperties) {
      const rule = `${path} in body should have at least ${minProperties} properties`;
      return void this.errors.push(fieldInvalid(field, keys.length, rule));
    }
    if (maxProperties !== undefined && keys.length > maxProperties) {
      return void this.errors.push(fieldTooMany(field, keys.length, maxProperties));
    }
    const { declared, additional } = schema;
    for (const key of keys) {
      const child = declared.get(key) ?? additional;
      const childPath = path === '' ? (declared.has(key) ? key : `.${key}`) : `${path}.${key}`;
      if (child) this.validate(child, object[key], childPath, old && ownMember(old, key));
      else if (additionalProperties === false) {
        const rule = `${childPath} in body is a forbidden property`;
        this.errors.push(fieldInvalid(this.#fieldOf(childPath), '', rule));
      }
    }
    for (const key of required ?? []) {
      const isDefaulted = (declared.get(key)?.source.default ?? null) !== null;
      if (!Object.hasOwn(object, key) && !isDefaulted) {
        this.errors.push(fieldRequired(this.#fieldOf(`${path}.${key}`)));
      }
    }
  }
}

function typeOf(value: unknown): ValueType {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value as ValueType;
}

function fits(schema: StructuralSchema, wanted: string, value: unknown, type: ValueType): boolean {
  if (wanted === '') return true;
  if (schema.intOrString) return type === 'integer' || type === 'string';
  if (wanted === type || (wanted === 'number' && type === 'integer')) return true;
  // A string with a format is left to the check of the format, whatever type is asked for besides.
  const { format } = schema.source;
  const isTextual = typeof value === 'string' || Array.isArray(value);
  return isTextual && format !== undefined && isEnforcedFormat(format) && wanted !== 'number' && wanted !== 'integer';
}

/** In characters, as Go counts runes. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

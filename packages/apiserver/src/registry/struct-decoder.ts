import {
  cloneJson,
  goTypeOfSchema,
  isJsonObject,
  jsonKindOf,
  setMember,
  type StatusError,
  type StructuralSchema,
} from '@asterism/machinery';
import { canonicalBase64, canonicalQuantity, canonicalTime } from './canonical-scalar.ts';

export interface StructDecoderOptions {
  /** The error for a value that does not fit. */
  fail: (why: string) => StatusError;
  /** From a map in memory, not from text: upstream has other words for what does not fit. */
  fromMap?: boolean | undefined;
  /** Receives the paths of empty lists that the server shows as null. */
  emptied?: string[][] | undefined;
}

/**
 * Makes of JSON what upstream's decoding into Go structs makes of it: known fields alone, of the right types, in their
 * canonical forms, with the fields that a struct always has and the defaults that its schema says.
 *
 * Where a value is part of an object that was decoded before (`base`), it is not looked at again.
 */
export class StructDecoder {
  /** The fields that nobody knows, as strict decoding names them: `data.key`, `spec.containers[0].image`. */
  readonly unknown: string[] = [];
  readonly #options: StructDecoderOptions;
  readonly #fail: (why: string) => StatusError;
  /** The way to the value at hand: names of fields, keys of maps, indexes. */
  readonly #path: (string | number)[] = [];
  /** The structs on that way, by the place in it at which their fields stand. */
  readonly #structs: { name: string; at: number }[] = [];
  #isSharing = false;

  constructor(options: StructDecoderOptions) {
    this.#options = options;
    this.#fail = options.fail;
  }

  /**
   * A whole object. Where nothing but metadata and status is other than in `base`, all the rest is shared with it: of an object
   * that stays as it is, its kind has nothing to change.
   */
  decodeObject(
    object: Readonly<Record<string, unknown>>,
    schema: StructuralSchema,
    base?: Readonly<Record<string, unknown>>,
  ): Record<string, unknown> {
    this.#isSharing = base !== undefined && hasSameContent(object, base);
    return this.#members(object, schema, base, true);
  }

  /** A part of an object, that stands below `path`. */
  decodePart(value: unknown, schema: StructuralSchema, path: readonly string[] = []): unknown {
    this.#path.push(...path);
    return this.#value(value, schema, undefined);
  }

  #value(value: unknown, schema: StructuralSchema, base: unknown): unknown {
    if (schema.preserveUnknown && schema.fields.size === 0) return cloneJson(value);
    if (schema.intOrString) return this.#intOrString(value);
    switch (schema.type) {
      case 'object':
        return this.#members(value, schema, base, false);
      case 'array':
        return this.#items(value, schema, base);
      default:
        return this.#scalar(value, schema);
    }
  }

  #members(value: unknown, schema: StructuralSchema, base: unknown, isRoot: boolean): Record<string, unknown> {
    if (!isJsonObject(value)) throw this.#mismatch(value, schema);
    const known = isJsonObject(base) ? base : undefined;
    const result: Record<string, unknown> = {};
    const isMap = schema.fields.size === 0;
    if (!isMap) this.#structs.push({ name: schema.name, at: this.#path.length });
    for (const key of Object.keys(value)) {
      const member = value[key];
      if (typeof member === 'object' && member !== null && known?.[key] === member && Object.hasOwn(known, key)) {
        const isShared = (isRoot && this.#isSharing && key !== 'metadata') || key === 'managedFields';
        setMember(result, key, isShared ? member : cloneJson(member));
        continue;
      }
      this.#path.push(key);
      this.#member(result, key, member, { schema, isMap, base: known?.[key] });
      this.#path.pop();
    }
    if (!isMap) this.#structs.pop();
    this.#complete(result, schema);
    return result;
  }

  #member(
    result: Record<string, unknown>,
    key: string,
    member: unknown,
    { schema, isMap, base }: { schema: StructuralSchema; isMap: boolean; base: unknown },
  ): void {
    const field = schema.field(key);
    if (!field) {
      if (schema.preserveUnknown) setMember(result, key, cloneJson(member));
      else this.unknown.push(this.#where());
      return;
    }
    if (member === null) {
      if (isMap) setMember(result, key, zeroOf(field));
      return;
    }
    const decoded = isSchemaOr(field, member) ? this.#schemaOr(member, schema) : this.#value(member, field, base);
    if (!isMap && isUnset(decoded, key, field, schema)) {
      if (Array.isArray(decoded) && schema.zero?.[key] === null) this.#noteEmptied();
      return;
    }
    setMember(result, key, decoded);
  }

  /** `JSONSchemaPropsOrBool` and its like: the schema says "anything", where an object is meant to be a schema again. */
  #schemaOr(member: unknown, schema: StructuralSchema): unknown {
    const known = this.unknown.length;
    const decoded = this.#value(member, schema, undefined);
    this.unknown.length = known;
    return decoded;
  }

  /** The fields that a struct has though nobody said so. */
  #complete(result: Record<string, unknown>, schema: StructuralSchema): void {
    const { zero } = schema;
    for (const key in zero) if (!Object.hasOwn(result, key)) result[key] = cloneJson(zero[key]);
    for (const [key, field] of schema.defaulted) {
      if (!Object.hasOwn(result, key)) result[key] = this.#value(cloneJson(field.defaultValue), field, undefined);
    }
  }

  #items(value: unknown, schema: StructuralSchema, base: unknown): unknown {
    if (!Array.isArray(value)) throw this.#mismatch(value, schema);
    const { items } = schema;
    if (!items) return cloneJson(value);
    const known = Array.isArray(base) ? new Set<unknown>(base) : undefined;
    const result: unknown[] = [];
    for (const [index, item] of value.entries()) {
      if (item === null) result.push(zeroOf(items));
      else if (typeof item === 'object' && known?.has(item)) result.push(cloneJson(item));
      else {
        this.#path.push(index);
        result.push(this.#value(item, items, undefined));
        this.#path.pop();
      }
    }
    return result;
  }

  #intOrString(value: unknown): unknown {
    if (typeof value === 'string' || (typeof value === 'number' && Number.isInteger(value))) return value;
    throw this.#fail(this.#unmarshalMismatch(value, 'int32'));
  }

  #scalar(value: unknown, schema: StructuralSchema): unknown {
    const { type, source, name } = schema;
    if (name === 'Quantity') return canonicalQuantity(value, this.#fail);
    if (type === 'string' && source.format === 'date-time') {
      if (typeof value !== 'string') throw this.#fail(this.#unmarshalMismatch(value, 'string'));
      return canonicalTime(value, name === 'MicroTime', this.#fail);
    }
    if (type === 'boolean' && typeof value === 'boolean') return value;
    if (type === 'number' && typeof value === 'number') return value;
    if (type === 'integer' && typeof value === 'number' && isInteger(value, source.format)) return value;
    if (type === undefined) return cloneJson(value);
    if (type !== 'string' || typeof value !== 'string') throw this.#mismatch(value, schema);
    if (source.format !== 'byte') return value;
    return canonicalBase64(value, (why) =>
      this.#fail(this.#options.fromMap ? `error decoding from json: ${why}` : why),
    );
  }

  #mismatch(value: unknown, schema: StructuralSchema): StatusError {
    const { fromMap } = this.#options;
    return this.#fail(fromMap ? mapMismatch(value, schema) : this.#unmarshalMismatch(value, goTypeOfSchema(schema)));
  }

  /** As `encoding/json` says it. Of a value that decodes itself, the field is not known where it comes from a map. */
  #unmarshalMismatch(value: unknown, type: string): string {
    const into = this.#options.fromMap || this.#path.length === 0 ? 'value' : `struct field ${this.#goPlace()}`;
    return `json: cannot unmarshal ${describe(value, type)} into Go ${into} of type ${type}`;
  }

  #noteEmptied(): void {
    if (this.#path.every((key) => typeof key === 'string')) this.#options.emptied?.push([...(this.#path as string[])]);
  }

  /** `spec.containers[0].image` */
  #where(): string {
    return this.#path.reduce<string>((path, key) => {
      if (typeof key === 'number') return `${path}[${key}]`;
      return path === '' ? key : `${path}.${key}`;
    }, '');
  }

  /** The struct that has the field, and the field with those above it; Go names no keys of maps: `PodSpec.spec.nodeSelector`. */
  #goPlace(): string {
    const named = new Set(this.#structs.map(({ at }) => at));
    const path = this.#path.filter((key, at) => typeof key === 'string' && named.has(at));
    return `${this.#structs.at(-1)?.name ?? ''}.${path.join('.')}`;
  }
}

/** Whether the objects share all but metadata and status. */
function hasSameContent(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  for (const key of keys) {
    if (key !== 'metadata' && key !== 'status' && a[key] !== b[key]) return false;
  }
  return true;
}

function isSchemaOr(field: StructuralSchema, member: unknown): boolean {
  return field.name.startsWith('JSONSchemaPropsOr') && typeof member === 'object' && !Array.isArray(member);
}

/** An empty list or map is none, and so is a zero value that says nothing. */
function isUnset(value: unknown, key: string, field: StructuralSchema, schema: StructuralSchema): boolean {
  return isEmpty(value, field) || (isZero(value) && schema.unsetByZero.has(key));
}

function isInteger(value: number, format: string | undefined): boolean {
  if (!Number.isInteger(value)) return false;
  return format !== 'int32' || (value >= -(2 ** 31) && value < 2 ** 31);
}

/** Lists and maps without an item are the same as none; a struct without a field set is not. */
function isEmpty(value: unknown, schema: StructuralSchema): boolean {
  if (Array.isArray(value)) return value.length === 0 && schema.type === 'array';
  return (
    schema.type === 'object' &&
    schema.additional !== undefined &&
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).length === 0
  );
}

function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false;
}

function zeroOf(schema: StructuralSchema): unknown {
  switch (schema.type) {
    case 'string':
      return '';
    case 'integer':
    case 'number':
      return 0;
    case 'boolean':
      return false;
    case 'object':
      return cloneJson(schema.zero ?? {});
    default:
      return null;
  }
}

/** As `FromUnstructured` of apimachinery says it. */
function mapMismatch(value: unknown, schema: StructuralSchema): string {
  const kind = reflectKind(value);
  if (schema.type === 'array' || schema.source.format === 'byte') return `cannot restore slice from ${kind}`;
  if (schema.type === 'object') {
    return schema.additional && schema.fields.size === 0
      ? `cannot restore map from ${kind}`
      : `cannot restore struct from: ${kind}`;
  }
  const type = goTypeOfSchema(schema);
  const isConvertible = kind === 'int64' ? type !== 'bool' : kind === 'float64' && schema.type === 'integer';
  return isConvertible ? `cannot convert ${kind} to ${type}` : `unrecognized type: ${type}`;
}

/** The kind that Go's reflection gives a decoded JSON value. */
function reflectKind(value: unknown): string {
  if (Array.isArray(value)) return 'slice';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'object' ? 'map' : typeof value;
}

/** A JSON value as `encoding/json` calls it; a number is told where it is a number that was wanted. */
function describe(value: unknown, type: string): string {
  return typeof value === 'number' && /^u?int/.test(type) ? `number ${value}` : jsonKindOf(value);
}

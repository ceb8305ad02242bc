import type { CelType } from '../typing/cel-type.ts';

/** An unsigned integer of 64 bits; a signed one is a `bigint`, a double a `number`. */
export class CelUint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

/** A span of time in nanoseconds. */
export class CelDuration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** A moment in nanoseconds since 1970. */
export class CelTimestamp {
  readonly nanos: bigint;
  /** Of the zone that it was written in, in minutes: only the text of the timestamp has it. */
  readonly offset: number;

  constructor(nanos: bigint, offset = 0) {
    this.nanos = nanos;
    this.offset = offset;
  }
}

/** A value, or none. */
export class CelOptional {
  static readonly none = new CelOptional(undefined);
  readonly value: Value | undefined;

  constructor(value: Value | undefined) {
    this.value = value;
  }
}

/** A type as a value: `type(1)`, `int`. */
export class CelTypeValue {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** A map of expressions: a literal one, or a view of a JSON object. */
export abstract class CelMap {
  abstract readonly size: number;
  abstract get(key: Value): Value | undefined;
  abstract keys(): Iterable<Value>;
}

/** A value of a library's own type, such as an IP address. */
export abstract class CelOpaque {
  abstract readonly type: CelType;
  abstract equals(other: CelOpaque): boolean;

  /** How large it counts as. */
  get size(): number {
    return 1;
  }
}

export type Literal = null | boolean | bigint | number | string | CelUint | Uint8Array;

export type Value =
  | Literal
  | CelDuration
  | CelTimestamp
  | CelOptional
  | CelTypeValue
  | CelMap
  | CelOpaque
  | readonly Value[];

/** Why an expression has no value, in cel-go's words. Not an `Error`: `a || b` catches many of them. */
export class CelFailure {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export function fail(message: string): never {
  throw new CelFailure(message);
}

/** The kind of a value: the name of its type without parameters. */
export type ValueKind =
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'list'
  | 'map'
  | 'duration'
  | 'timestamp'
  | 'optional'
  | 'type'
  | 'opaque';

export function kindOf(value: Value): ValueKind {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'bigint':
      return 'int';
    case 'number':
      return 'double';
    case 'boolean':
      return 'bool';
    default:
  }
  if (value === null) return 'null';
  if (value instanceof CelMap) return 'map';
  if (Array.isArray(value)) return 'list';
  if (value instanceof CelUint) return 'uint';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof CelDuration) return 'duration';
  if (value instanceof CelTimestamp) return 'timestamp';
  if (value instanceof CelOptional) return 'optional';
  return value instanceof CelTypeValue ? 'type' : 'opaque';
}

export const isList = (value: Value): value is readonly Value[] => Array.isArray(value);

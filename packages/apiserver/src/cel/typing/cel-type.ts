/** A field of an object type, and its name in JSON where that is not a CEL identifier. */
export interface CelField {
  type: CelType;
  jsonName: string;
}

type SimpleKind =
  | 'dyn'
  | 'error'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'duration'
  | 'timestamp';

export type CelType =
  | { readonly kind: SimpleKind }
  | { readonly kind: 'list'; readonly element: CelType }
  | { readonly kind: 'map'; readonly key: CelType; readonly value: CelType }
  | { readonly kind: 'optional'; readonly of: CelType }
  | { readonly kind: 'type'; readonly of: CelType | undefined }
  | { readonly kind: 'object'; readonly name: string; readonly fields: ReadonlyMap<string, CelField> }
  | { readonly kind: 'opaque'; readonly name: string }
  | { readonly kind: 'param'; readonly name: string };

export const DYN: CelType = { kind: 'dyn' };
export const ERROR: CelType = { kind: 'error' };
export const NULL: CelType = { kind: 'null' };
export const BOOL: CelType = { kind: 'bool' };
export const INT: CelType = { kind: 'int' };
export const UINT: CelType = { kind: 'uint' };
export const DOUBLE: CelType = { kind: 'double' };
export const STRING: CelType = { kind: 'string' };
export const BYTES: CelType = { kind: 'bytes' };
export const DURATION: CelType = { kind: 'duration' };
export const TIMESTAMP: CelType = { kind: 'timestamp' };

export function listOf(element: CelType): CelType {
  return { kind: 'list', element };
}

export function mapOf(key: CelType, value: CelType): CelType {
  return { kind: 'map', key, value };
}

export function optionalOf(of: CelType): CelType {
  return { kind: 'optional', of };
}

export function typeOf(of?: CelType): CelType {
  return { kind: 'type', of };
}

/** A parameter of a declaration that stands for any type: `list(A).sort() : list(A)`. */
export function typeParam(name: string): CelType {
  return { kind: 'param', name };
}

/** A type of a library, known by its name alone. */
export function opaqueType(name: string): CelType {
  return { kind: 'opaque', name };
}

/** An object type whose fields have the same names in JSON. */
export function objectType(name: string, fields: Readonly<Record<string, CelType>>): CelType {
  const entries = Object.entries(fields).map(([field, type]) => [field, { type, jsonName: field }] as const);
  return { kind: 'object', name, fields: new Map(entries) };
}

/** A type as cel-go prints it: `map(string, list(int))`. */
export function formatType(type: CelType): string {
  switch (type.kind) {
    case 'list':
      return `list(${formatType(type.element)})`;
    case 'map':
      return `map(${formatType(type.key)}, ${formatType(type.value)})`;
    case 'optional':
      return `optional_type(${formatType(type.of)})`;
    case 'type':
      return type.of ? `type(${formatType(type.of)})` : 'type';
    case 'error':
      return '!error!';
    case 'object':
    case 'opaque':
    case 'param':
      return type.name;
    default:
      return type.kind;
  }
}

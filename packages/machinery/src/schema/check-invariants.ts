import { deepEqual } from '../deep-equal.ts';
import type { FieldError } from '../status.ts';
import { fieldForbidden, fieldInvalid, fieldRequired } from './field-errors.ts';
import { compileGoPattern } from './go-regexp.ts';
import type { OpenApiSchema } from './open-api-schema.ts';

type Level = 'root' | 'item' | 'field';

const INT_OR_STRING = [{ type: 'integer' }, { type: 'string' }];

const MISSING_TYPE: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

/** What a clause under `allOf`, `anyOf`, `oneOf` or `not` must leave to the schema around it, and how that is said. */
const FORBIDDEN_IN_CLAUSES: readonly [string, string][] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
];

/** Characters of all patterns of a schema: to compile so many takes a tenth of a second. */
const MAX_PATTERNS = 128 * 1024;

function patternLength(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let length = 0;
  for (const [key, member] of Object.entries(value)) {
    length += key === 'pattern' && typeof member === 'string' ? member.length : patternLength(member);
  }
  return length;
}

/**
 * What keeps a schema from being structural (KEP-1693): every field has a type outside of the logical junctors, what a
 * junctor mentions is declared beside it, and metadata is restricted in its names only. Sorted.
 */
export function checkInvariants(schema: OpenApiSchema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (patternLength(schema) > MAX_PATTERNS) {
    return [fieldForbidden(path, `the patterns of a schema may have ${MAX_PATTERNS} characters in all`)];
  }
  checkNode(schema, 'root', path, errors);
  // As upstream: completeness is only asked of the clauses at the root.
  checkCompleteness(schema, schema, path, path, errors);
  return errors.sort((a, b) => compare(`${a.field}: ${a.message}`, `${b.field}: ${b.message}`));
}

function checkNode(schema: OpenApiSchema, level: Level, path: string, errors: FieldError[]): void {
  if (schema.type === 'array' && !schema.items) errors.push(fieldRequired(`${path}.items`, 'must be specified'));
  if (schema.items) checkNode(schema.items, 'item', `${path}.items`, errors);
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    checkNode(field, 'field', `${path}.properties[${name}]`, errors);
  }
  const { additionalProperties } = schema;
  if (additionalProperties !== undefined && level === 'root') {
    errors.push(fieldForbidden(`${path}.additionalProperties`, 'must not be used at the root'));
  }
  if (typeof additionalProperties === 'object') {
    checkNode(additionalProperties, 'field', `${path}.additionalProperties`, errors);
  }
  checkExtensions(schema, path, errors);
  const anyOfIsType = deepEqual(schema.anyOf, INT_OR_STRING);
  const allOfBeginsWithType = deepEqual(schema.allOf?.[0]?.anyOf, INT_OR_STRING);
  checkValueRules(schema, anyOfIsType, allOfBeginsWithType, path, errors);
  checkType(schema, level, path, errors);
  checkMeta(schema, level, path, errors);
}

function checkExtensions(schema: OpenApiSchema, path: string, errors: FieldError[]): void {
  if (!schema['x-kubernetes-int-or-string']) return;
  for (const name of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const) {
    const detail = 'must be false if x-kubernetes-int-or-string is true';
    if (schema[name]) errors.push(fieldInvalid(`${path}.${name}`, true, detail));
  }
}

function checkType(schema: OpenApiSchema, level: Level, path: string, errors: FieldError[]): void {
  const field = `${path}.type`;
  const isResource = schema['x-kubernetes-embedded-resource'] === true;
  if (isResource && schema.type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(schema.type ? fieldInvalid(field, schema.type, detail) : fieldRequired(field, detail));
  } else if (!schema.type && !schema['x-kubernetes-int-or-string'] && !schema['x-kubernetes-preserve-unknown-fields']) {
    errors.push(fieldRequired(field, MISSING_TYPE[level]));
  }
  if (isResource && schema.additionalProperties !== undefined) {
    const detail = 'must not be used if x-kubernetes-embedded-resource is set';
    errors.push(fieldForbidden(`${path}.additionalProperties`, detail));
  }
  if (level === 'root' && schema.type && schema.type !== 'object') {
    errors.push(fieldInvalid(field, schema.type, 'must be object at the root'));
  }
}

function checkMeta(schema: OpenApiSchema, level: Level, path: string, errors: FieldError[]): void {
  const properties = schema.properties ?? {};
  const isResource = level === 'root' || schema['x-kubernetes-embedded-resource'] === true;
  for (const name of ['kind', 'apiVersion']) {
    const type = properties[name]?.type;
    if (isResource && properties[name] && type !== 'string') {
      errors.push(fieldInvalid(`${path}.properties[${name}].type`, type ?? '', 'must be string'));
    }
  }
  const { metadata } = properties;
  if (metadata) {
    const field = `${path}.properties[metadata]`;
    if (isResource && metadata.type !== 'object') {
      errors.push(fieldInvalid(`${field}.type`, metadata.type ?? '', 'must be object'));
    }
    if (level === 'root' && !restrictsNamesOnly(metadata)) {
      const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
      errors.push(fieldForbidden(field, detail));
    }
  }
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (schema['x-kubernetes-embedded-resource'] && !isOpen && Object.keys(properties).length === 0) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.push(fieldRequired(`${path}.properties`, detail));
  }
}

function restrictsNamesOnly(metadata: OpenApiSchema): boolean {
  // Of these the structural form of a schema knows nothing.
  const { type: _, default: __, example: ___, properties, ...rest } = metadata;
  delete (rest as Record<string, unknown>).externalDocs;
  const named = Object.keys(properties ?? {}).every((name) => name === 'name' || name === 'generateName');
  return named && Object.keys(rest).length === 0;
}

function checkValueRules(
  schema: OpenApiSchema,
  skipAnyOf: boolean,
  skipFirstAllOf: boolean,
  path: string,
  errors: FieldError[],
): void {
  for (const [i, clause] of (skipAnyOf ? [] : (schema.anyOf ?? [])).entries()) {
    checkClause(clause, false, `${path}.anyOf[${i}]`, errors);
  }
  for (const [i, clause] of (schema.allOf ?? []).entries()) {
    checkClause(clause, skipFirstAllOf && i === 0, `${path}.allOf[${i}]`, errors);
  }
  for (const [i, clause] of (schema.oneOf ?? []).entries()) {
    checkClause(clause, false, `${path}.oneOf[${i}]`, errors);
  }
  if (schema.not) checkClause(schema.not, false, `${path}.not`, errors);
  const fault = schema.pattern ? compileGoPattern(schema.pattern).error : undefined;
  if (fault !== undefined) {
    const detail = `must be a valid regular expression, but isn't: ${fault}`;
    errors.push(fieldInvalid(`${path}.pattern`, schema.pattern, detail));
  }
}

function checkClause(clause: OpenApiSchema, skipAnyOf: boolean, path: string, errors: FieldError[]): void {
  checkValueRules(clause, skipAnyOf, false, path, errors);
  if (clause.items) checkClause(clause.items, false, `${path}.items`, errors);
  for (const [name, field] of Object.entries(clause.properties ?? {})) {
    checkClause(field, false, `${path}.properties[${name}]`, errors);
  }
  for (const [member, detail] of FORBIDDEN_IN_CLAUSES) {
    const value = (clause as Readonly<Record<string, unknown>>)[member];
    const isAbsent = value === undefined || value === '' || value === false || value === null;
    if (isAbsent && !(member === 'additionalProperties' && value === false)) continue;
    if (Array.isArray(value) && value.length === 0) continue;
    errors.push(fieldForbidden(`${path}.${member}`, detail));
  }
  if (clause.properties && Object.hasOwn(clause.properties, 'metadata')) {
    errors.push(fieldForbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context'));
  }
}

/** Every field that a clause of `rules` mentions must be declared in `schema`. */
function checkCompleteness(
  rules: OpenApiSchema,
  schema: OpenApiSchema,
  schemaPath: string,
  rulesPath: string,
  errors: FieldError[],
): void {
  const complete = (clause: OpenApiSchema, name: string) =>
    checkClauseCompleteness(clause, schema, schemaPath, `${rulesPath}.${name}`, errors);
  if (rules.not) complete(rules.not, 'not');
  for (const junctor of ['allOf', 'anyOf', 'oneOf'] as const) {
    for (const [i, clause] of (rules[junctor] ?? []).entries()) complete(clause, `${junctor}[${i}]`);
  }
}

function checkClauseCompleteness(
  clause: OpenApiSchema,
  schema: OpenApiSchema,
  schemaPath: string,
  clausePath: string,
  errors: FieldError[],
): void {
  checkCompleteness(clause, schema, schemaPath, clausePath, errors);
  const descend = (part: OpenApiSchema, declared: OpenApiSchema | undefined, name: string) => {
    const at = `${clausePath}.${name}`;
    if (declared) checkClauseCompleteness(part, declared, `${schemaPath}.${name}`, at, errors);
    else errors.push(fieldRequired(`${schemaPath}.${name}`, `because it is defined in ${at}`));
  };
  if (clause.items) descend(clause.items, schema.items, 'items');
  for (const [name, part] of Object.entries(clause.properties ?? {})) {
    descend(part, schema.properties?.[name], `properties[${name}]`);
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

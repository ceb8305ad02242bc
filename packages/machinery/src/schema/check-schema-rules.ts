import type { FieldError } from '../status.ts';
import { checkCelRules } from './check-cel-rules.ts';
import { fieldForbidden, fieldInvalid, fieldNotSupported, fieldRequired } from './field-errors.ts';
import type { OpenApiSchema } from './open-api-schema.ts';

type RawSchema = OpenApiSchema & Readonly<Record<string, unknown>>;

/** Where the walk is: within apiVersion, kind or metadata, and why a default may not be set there. */
interface Place {
  insideMeta: boolean;
  noDefaults?: string;
}

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const META_FIELDS = new Set(['apiVersion', 'kind', 'metadata']);
const UNSUPPORTED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'];

/** Faults in how the members of a schema go together, node by node. */
export function checkSchemaRules(schema: OpenApiSchema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  checkNode(schema as RawSchema, path, true, { insideMeta: false }, errors);
  return errors;
}

function checkNode(schema: RawSchema, path: string, isRoot: boolean, place: Place, errors: FieldError[]): void {
  checkMembers(schema, path, place, errors);
  checkChildren(schema, path, isRoot, place, errors);
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    errors.push(fieldInvalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'));
  }
  checkMapType(schema, path, errors);
  checkListType(schema, path, errors);
  checkMapKeys(schema, path, errors);
  errors.push(...checkCelRules(schema, path));
}

function checkMembers(schema: RawSchema, path: string, place: Place, errors: FieldError[]): void {
  if (schema.type && !TYPES.includes(schema.type)) {
    errors.push(fieldNotSupported(`${path}.type`, schema.type, TYPES));
  }
  if ((schema.default ?? null) !== null && place.noDefaults !== undefined) {
    errors.push(fieldForbidden(`${path}.default`, `must not be set ${place.noDefaults}`));
  }
  for (const member of UNSUPPORTED) {
    if (schema[member] !== undefined) {
      errors.push(fieldForbidden(`${path}.${member}`, `${member} is not supported`));
    }
  }
  if ((schema.type as string) === 'null') {
    errors.push(fieldForbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative'));
  }
  if (Array.isArray(schema.items)) {
    errors.push(fieldForbidden(`${path}.items`, 'items must be a schema object and not an array'));
  }
  if (place.insideMeta && schema['x-kubernetes-embedded-resource']) {
    errors.push(fieldForbidden(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta'));
  }
  if (schema.uniqueItems) {
    const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    errors.push(fieldForbidden(`${path}.uniqueItems`, detail));
  }
}

function checkChildren(schema: RawSchema, path: string, isRoot: boolean, place: Place, errors: FieldError[]): void {
  const { additionalProperties, properties = {} } = schema;
  if (additionalProperties !== undefined && additionalProperties !== true && Object.keys(properties).length > 0) {
    const detail = 'additionalProperties and properties are mutual exclusive';
    errors.push(fieldForbidden(`${path}.additionalProperties`, detail));
  }
  const child = (part: OpenApiSchema | undefined, name: string, at: Place = place) => {
    if (part !== undefined) checkNode(part as RawSchema, `${path}.${name}`, false, at, errors);
  };
  if (typeof additionalProperties === 'object') {
    const reason = 'inside additionalProperties applying to object metadata';
    child(additionalProperties, 'additionalProperties', place.insideMeta ? { ...place, noDefaults: reason } : place);
  }
  const isResource = isRoot || schema['x-kubernetes-embedded-resource'] === true;
  for (const [name, field] of Object.entries(properties)) {
    const isMeta = isResource && META_FIELDS.has(name);
    const noDefaults = isMeta && isRoot ? `in top-level ${name}` : place.noDefaults;
    const at = { insideMeta: place.insideMeta || isMeta, ...(noDefaults === undefined ? {} : { noDefaults }) };
    child(field, `properties[${name}]`, at);
  }
  child(schema.not, 'not');
  for (const junctor of ['allOf', 'oneOf', 'anyOf'] as const) {
    for (const [i, clause] of (schema[junctor] ?? []).entries()) child(clause, `${junctor}[${i}]`);
  }
  if (schema.items && !Array.isArray(schema.items)) child(schema.items, 'items');
}

function checkMapType(schema: RawSchema, path: string, errors: FieldError[]): void {
  const mapType = schema['x-kubernetes-map-type'];
  if (mapType === undefined) return;
  if (schema.type !== 'object') {
    errors.push(wrongType(schema, path, 'must be object if x-kubernetes-map-type is specified'));
  }
  if (mapType !== 'atomic' && mapType !== 'granular') {
    errors.push(fieldNotSupported(`${path}.x-kubernetes-map-type`, mapType, ['atomic', 'granular']));
  }
}

function checkListType(schema: RawSchema, path: string, errors: FieldError[]): void {
  const listType = schema['x-kubernetes-list-type'];
  if (listType === undefined) return;
  if (schema.type !== 'array') {
    errors.push(wrongType(schema, path, 'must be array if x-kubernetes-list-type is specified'));
  } else if (listType === 'set') {
    checkSetItems(schema.items, `${path}.items`, errors);
  }
  if (listType !== 'atomic' && listType !== 'set' && listType !== 'map') {
    errors.push(fieldNotSupported(`${path}.x-kubernetes-list-type`, listType, ['atomic', 'set', 'map']));
  }
}

function checkSetItems(items: OpenApiSchema | undefined, path: string, errors: FieldError[]): void {
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const listType = items?.['x-kubernetes-list-type'];
  if (items?.type === 'array' && listType !== undefined && listType !== 'atomic') {
    errors.push(fieldInvalid(`${path}.x-kubernetes-list-type`, listType, detail));
  }
  if (items?.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    // The list type of the items is what upstream shows here.
    errors.push(fieldInvalid(`${path}.x-kubernetes-map-type`, listType ?? null, detail));
  }
}

function checkMapKeys(schema: RawSchema, path: string, errors: FieldError[]): void {
  const listType = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const keysPath = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length > 0 && listType !== 'map') {
    const field = `${path}.x-kubernetes-list-type`;
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
    errors.push(listType === undefined ? fieldRequired(field, detail) : fieldInvalid(field, listType, detail));
  }
  if (listType === 'map') {
    if (keys.length === 0) {
      errors.push(fieldRequired(keysPath, 'must not be empty if x-kubernetes-list-type is map'));
    }
    checkMapItems(schema, keys, path, keysPath, errors);
  }
  if (listType !== 'map' && listType !== 'set') return;
  const items = Array.isArray(schema.items) ? undefined : schema.items;
  if (items?.nullable) {
    errors.push(
      fieldForbidden(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`),
    );
  }
  if (listType === 'map' && items) checkKeysAreSet(items, keys, `${path}.items`, errors);
}

function checkMapItems(
  { items }: RawSchema,
  keys: readonly string[],
  path: string,
  keysPath: string,
  errors: FieldError[],
): void {
  if (!items) {
    errors.push(fieldRequired(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map'));
    return;
  }
  if (Array.isArray(items)) {
    const detail = 'must only have a single schema if x-kubernetes-list-type is map';
    errors.push(fieldInvalid(`${path}.items`, items, detail));
    return;
  }
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    errors.push(fieldInvalid(`${path}.items.type`, items.type ?? '', detail));
    return;
  }
  for (const [i, key] of keys.entries()) {
    const type = items.properties?.[key]?.type;
    if (!items.properties || !Object.hasOwn(items.properties, key)) {
      errors.push(fieldInvalid(keysPath, keys, 'entries must all be names of item properties'));
    } else if (type === 'array' || type === 'object') {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      errors.push(fieldInvalid(`${path}.items.properties[${key}].type`, items.type, detail));
    }
    if (keys.indexOf(key) < i) errors.push(fieldInvalid(keysPath, keys, 'must not contain duplicate entries'));
  }
}

/** Each key of a list of type map must have a value in each item. */
function checkKeysAreSet(items: OpenApiSchema, keys: readonly string[], path: string, errors: FieldError[]): void {
  const subject = 'this property is in x-kubernetes-list-map-keys, so it';
  for (const key of keys) {
    const property = items.properties?.[key];
    if (!property) continue;
    const field = `${path}.properties[${key}]`;
    if (!items.required?.includes(key) && (property.default ?? null) === null) {
      errors.push(fieldRequired(`${field}.default`, `${subject} must have a default or be a required property`));
    }
    if (property.nullable) errors.push(fieldForbidden(`${field}.nullable`, `${subject} cannot be nullable`));
  }
}

function wrongType(schema: RawSchema, path: string, detail: string): FieldError {
  const field = `${path}.type`;
  return schema.type ? fieldInvalid(field, schema.type, detail) : fieldRequired(field, detail);
}

import { cloneJson } from '../json-object.ts';
import { deepEqual } from '../deep-equal.ts';
import type { FieldError } from '../status.ts';
import { structuralSchema } from './custom-resource-schema.ts';
import { fieldInvalid } from './field-errors.ts';
import type { OpenApiSchema } from './open-api-schema.ts';
import { pruneUnknown } from './unknown-fields.ts';
import { validateEmbedded } from './validate-embedded.ts';
import { validateValues } from './validate-schema.ts';

/** Where the walk is: in which resource, and how a value there is put into one. */
interface Place {
  resource: OpenApiSchema;
  surround(value: unknown): unknown;
  /** Within apiVersion, kind or metadata of the resource. */
  insideMeta: boolean;
}

const META_FIELDS = ['apiVersion', 'kind', 'metadata'];

/** Faults of the defaults in a structural schema: they must fit it, and have no field that it does not know. */
export function checkDefaults(schema: OpenApiSchema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const root = { ...schema, 'x-kubernetes-embedded-resource': true };
  checkNode(root, path, inResource(root), errors);
  return errors;
}

function inResource(resource: OpenApiSchema): Place {
  const type = { apiVersion: 'validation/v1', kind: 'Validation' };
  return { resource, insideMeta: false, surround: (value) => ({ ...(value as object), ...type }) };
}

function checkNode(schema: OpenApiSchema, path: string, outer: Place, errors: FieldError[]): void {
  const isResource = schema['x-kubernetes-embedded-resource'] === true;
  const place = isResource ? inResource(schema) : outer;
  if (schema.default !== undefined && schema.default !== null) {
    errors.push(...(place.insideMeta ? checkMetaDefault : checkDefault)(schema, `${path}.default`, place));
  }
  const { insideMeta, surround } = place;
  if (schema.items) {
    checkNode(schema.items, `${path}.items`, { ...place, surround: (item) => surround([item]) }, errors);
  }
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const within = {
      ...place,
      insideMeta: insideMeta || (isResource && META_FIELDS.includes(name)),
      surround: (value: unknown) => surround({ [name]: value }),
    };
    checkNode(field, `${path}.properties[${name}]`, within, errors);
  }
}

function checkDefault(source: OpenApiSchema, path: string): FieldError[] {
  const schema = structuralSchema(source);
  const pruned = cloneJson(source.default);
  pruneUnknown(pruned, schema);
  const errors = deepEqual(pruned, source.default)
    ? []
    : [fieldInvalid(path, source.default, 'must not have unknown fields')];
  const embedded = validateEmbedded(source.default, schema, path);
  return [...errors, ...(embedded.length > 0 ? embedded : validateValues(source.default, schema, { path }))];
}

/** A default of metadata is tried in a resource that has nothing else. */
function checkMetaDefault(source: OpenApiSchema, path: string, { resource, surround }: Place): FieldError[] {
  const object = surround(cloneJson(source.default));
  const faults = validateEmbedded(object, structuralSchema(resource), '');
  if (faults.length === 0) return validateValues(source.default, structuralSchema(source), { path });
  const texts = faults.map(({ field, message }) => `${field}: ${message}`);
  const text = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return [fieldInvalid(path, source.default, `must result in valid metadata: ${text}`)];
}

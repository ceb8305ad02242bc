import { deepEqual } from '../deep-equal.ts';
import type { FieldError } from '../status.ts';
import { structuralSchema } from './custom-resource-schema.ts';
import { fieldInvalid } from './field-errors.ts';
import type { OpenApiSchema } from './open-api-schema.ts';
import { pruneUnknown } from './unknown-fields.ts';
import { validateEmbedded } from './validate-embedded.ts';
import { validateValues } from './validate-schema.ts';

/** Faults of the defaults in a structural schema: they must fit it, and have no field that it does not know. */
export function checkDefaults(schema: OpenApiSchema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (schema.default !== undefined && schema.default !== null) errors.push(...checkDefault(schema, `${path}.default`));
  if (schema.items) errors.push(...checkDefaults(schema.items, `${path}.items`));
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    errors.push(...checkDefaults(field, `${path}.properties[${name}]`));
  }
  return errors;
}

function checkDefault(source: OpenApiSchema, path: string): FieldError[] {
  const schema = structuralSchema(source);
  const pruned = structuredClone(source.default);
  pruneUnknown(pruned, schema);
  const errors = deepEqual(pruned, source.default)
    ? []
    : [fieldInvalid(path, source.default, 'must not have unknown fields')];
  const embedded = validateEmbedded(source.default, schema, path);
  return [...errors, ...(embedded.length > 0 ? embedded : validateValues(source.default, schema, { path }))];
}

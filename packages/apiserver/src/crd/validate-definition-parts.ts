import type { FieldError, OpenApiSchema } from '@asterism/machinery';
import type { PrinterColumn } from '../registry/registry.ts';
import { duplicateValue, invalidValue, required } from '../registry/strategy.ts';
import type { DefinitionVersion } from './custom-resource-definition.ts';

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];
const SIMPLE_PATH = /^(\.[A-Za-z_][\w-]*)+$/;
/** Upstream allows so many a version. */
const MAX_SELECTABLE_FIELDS = 8;

/** The paths of a scale subresource: plain fields, each below the part of the object where it belongs. */
export function validateSubresources({ scale }: DefinitionVersion['subresources'] & object, at: string): FieldError[] {
  if (!scale) return [];
  const path = (field: string, value: string | undefined, below: readonly string[], where: string): FieldError[] => {
    const name = `${at}.scale.${field}`;
    if (!value) return field === 'labelSelectorPath' ? [] : [required(name)];
    if (!value.startsWith('.')) return [invalidValue(name, value, 'must be a simple json path starting with .')];
    const fits = SIMPLE_PATH.test(value) && below.some((prefix) => value.startsWith(prefix));
    return fits ? [] : [invalidValue(name, value, `should be a json path under ${where}`)];
  };
  return [
    ...path('specReplicasPath', scale.specReplicasPath, ['.spec.'], '.spec'),
    ...path('statusReplicasPath', scale.statusReplicasPath, ['.status.'], '.status'),
    ...path('labelSelectorPath', scale.labelSelectorPath, ['.spec.', '.status.'], 'either .spec or .status'),
  ];
}

export function validateColumns(columns: readonly PrinterColumn[], at: string): FieldError[] {
  return columns.flatMap(({ name, type, format, jsonPath }, index) => {
    const field = `${at}[${index}]`;
    const errors: FieldError[] = [];
    if (!name) errors.push(required(`${field}.name`));
    if (!type) errors.push(required(`${field}.type`, `must be one of ${COLUMN_TYPES.join(',')}`));
    else if (!COLUMN_TYPES.includes(type)) {
      errors.push(invalidValue(`${field}.type`, type, `must be one of ${COLUMN_TYPES.join(',')}`));
    }
    if (format && !COLUMN_FORMATS.includes(format)) {
      errors.push(invalidValue(`${field}.format`, format, `must be one of ${COLUMN_FORMATS.join(',')}`));
    }
    if (!jsonPath) errors.push(required(`${field}.JSONPath`));
    else if (!jsonPath.startsWith('.')) {
      errors.push(invalidValue(`${field}.jsonPath`, jsonPath, 'must be a simple json path starting with .'));
    }
    return errors;
  });
}

/** Selectable fields are scalars of the schema (KEP-4358). */
export function validateSelectableFields(
  fields: readonly { jsonPath: string }[],
  schema: OpenApiSchema,
  at: string,
): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  if (fields.length > MAX_SELECTABLE_FIELDS) {
    errors.push({
      type: 'FieldValueTooMany',
      field: at,
      message: `Too many: ${fields.length}: must have at most ${MAX_SELECTABLE_FIELDS} items`,
    });
  }
  for (const [index, { jsonPath }] of fields.entries()) {
    const field = `${at}[${index}].jsonPath`;
    if (!jsonPath) errors.push(required(field));
    else if (seen.has(jsonPath)) errors.push(duplicateValue(field, jsonPath));
    else if (!isScalarField(schema, jsonPath)) {
      errors.push(invalidValue(field, jsonPath, 'is an invalid path: does not refer to a valid field'));
    }
    seen.add(jsonPath);
  }
  return errors;
}

function isScalarField(schema: OpenApiSchema, jsonPath: string): boolean {
  if (!SIMPLE_PATH.test(jsonPath) || jsonPath.startsWith('.metadata')) return false;
  let current: OpenApiSchema | undefined = schema;
  for (const segment of jsonPath.slice(1).split('.')) current = current?.properties?.[segment];
  return ['string', 'boolean', 'integer'].includes(current?.type ?? '');
}

import {
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  fieldTooMany,
  findField,
  type OpenApiSchema,
} from '@asterism/machinery';
import type { DefinitionVersion } from './custom-resource-definition.ts';
import type { PrinterColumn } from '../contract/served-resource.ts';

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];
const NOT_SIMPLE = 'must be a simple json path starting with .';
const NOT_A_SCALAR =
  'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
/** Upstream allows so many a version. */
const MAX_SELECTABLE_FIELDS = 8;
/** Bytes. */
const MAX_WARNING = 256;

/** The paths of a scale subresource: plain fields, each below the part of the object where it belongs. */
export function validateSubresources({ scale }: DefinitionVersion['subresources'] & object, at: string): FieldError[] {
  if (!scale) return [];
  const path = (field: string, value: string | undefined, below: readonly string[], where: string): FieldError[] => {
    const name = `${at}.scale.${field}`;
    if (!value) return field === 'labelSelectorPath' ? [] : [fieldRequired(name)];
    if (!value.startsWith('.')) return [fieldInvalid(name, value, NOT_SIMPLE)];
    const fits = below.some((prefix) => value.startsWith(prefix));
    return fits ? [] : [fieldInvalid(name, value, `should be a json path under ${where}`)];
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
    const faults: FieldError[] = [];
    const types = `must be one of ${COLUMN_TYPES.join(',')}`;
    if (!name) faults.push(fieldRequired(`${field}.name`));
    if (!type) faults.push(fieldRequired(`${field}.type`, types));
    else if (!COLUMN_TYPES.includes(type)) faults.push(fieldInvalid(`${field}.type`, type, types));
    if (format && !COLUMN_FORMATS.includes(format)) {
      faults.push(fieldInvalid(`${field}.format`, format, `must be one of ${COLUMN_FORMATS.join(',')}`));
    }
    // The Go name is what upstream says here.
    if (!jsonPath) faults.push(fieldRequired(`${field}.JSONPath`));
    else if (!jsonPath.startsWith('.')) faults.push(fieldInvalid(`${field}.JSONPath`, jsonPath, NOT_SIMPLE));
    return faults;
  });
}

/** Selectable fields are scalars of the schema (KEP-4358). */
export function validateSelectableFields(
  fields: readonly { jsonPath?: string }[],
  schema: OpenApiSchema | undefined,
  at: string,
): FieldError[] {
  if (fields.length === 0) return [];
  if (!schema) return [fieldInvalid(at, '', 'may only be set when validations.schema is included')];
  const faults: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, { jsonPath = '' }] of fields.entries()) {
    const field = `${at}[${index}].jsonPath`;
    const found = findField(jsonPath, schema, { brackets: false });
    if (jsonPath === '') faults.push(fieldRequired(field));
    else if ('fault' in found) faults.push(fieldInvalid(field, jsonPath, `is an invalid path: ${found.fault}`));
    else {
      if (found.segments[0] === 'metadata') {
        faults.push(fieldInvalid(field, jsonPath, 'must not point to fields in metadata'));
      }
      if (!isScalar(found.schema)) faults.push(fieldInvalid(field, jsonPath, NOT_A_SCALAR));
      if (seen.has(jsonPath)) faults.push(fieldDuplicate(field, jsonPath));
      seen.add(jsonPath);
    }
  }
  if (seen.size > MAX_SELECTABLE_FIELDS) faults.push(fieldTooMany(at, seen.size, MAX_SELECTABLE_FIELDS));
  return faults;
}

function isScalar({ type }: OpenApiSchema): boolean {
  return type === 'string' || type === 'boolean' || type === 'integer';
}

/** A warning is a short line of text that a header can carry. */
export function validateDeprecation(
  { deprecated, deprecationWarning: text }: DefinitionVersion,
  at: string,
): FieldError[] {
  if (text === undefined) return [];
  const fail = (detail: string): FieldError => fieldInvalid(at, text, detail);
  if (!deprecated) return [fail('can only be set for deprecated versions')];
  const faults: FieldError[] = [];
  if (Buffer.byteLength(text) > MAX_WARNING) faults.push(fail(`must be <= ${MAX_WARNING} characters long`));
  if (text === '') faults.push(fail('must not be an empty string'));
  const index = text.search(/[^\P{C}]|[^ \P{Z}]/u);
  if (index >= 0) {
    const place = Buffer.byteLength(text.slice(0, index));
    const rule = 'must only contain printable UTF-8 characters';
    faults.push(fail(`${rule}; non-printable character found at index ${place}`));
  }
  return faults;
}

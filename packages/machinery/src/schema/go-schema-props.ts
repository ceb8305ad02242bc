import { isJsonObject } from '../json-object.ts';

/** How a member of a schema is shown: as it is, as a schema, or as one of Go's structs around schemas. */
type Shape =
  | 'value'
  | 'text'
  | 'flag'
  | 'schema'
  | 'schemas'
  | 'properties'
  | 'items'
  | 'additional'
  | 'docs'
  | 'rules';

/** The members of apiextensions' internal `JSONSchemaProps`, in the order of the struct: Go name, JSON name, shape. */
const MEMBERS: readonly (readonly [go: string, json: string, shape: Shape])[] = [
  ['ID', 'id', 'text'],
  ['Schema', '$schema', 'text'],
  ['Ref', '$ref', 'value'],
  ['Description', 'description', 'text'],
  ['Type', 'type', 'text'],
  ['Nullable', 'nullable', 'flag'],
  ['Format', 'format', 'text'],
  ['Title', 'title', 'text'],
  ['Default', 'default', 'value'],
  ['Maximum', 'maximum', 'value'],
  ['ExclusiveMaximum', 'exclusiveMaximum', 'flag'],
  ['Minimum', 'minimum', 'value'],
  ['ExclusiveMinimum', 'exclusiveMinimum', 'flag'],
  ['MaxLength', 'maxLength', 'value'],
  ['MinLength', 'minLength', 'value'],
  ['Pattern', 'pattern', 'text'],
  ['MaxItems', 'maxItems', 'value'],
  ['MinItems', 'minItems', 'value'],
  ['UniqueItems', 'uniqueItems', 'flag'],
  ['MultipleOf', 'multipleOf', 'value'],
  ['Enum', 'enum', 'value'],
  ['MaxProperties', 'maxProperties', 'value'],
  ['MinProperties', 'minProperties', 'value'],
  ['Required', 'required', 'value'],
  ['Items', 'items', 'items'],
  ['AllOf', 'allOf', 'schemas'],
  ['OneOf', 'oneOf', 'schemas'],
  ['AnyOf', 'anyOf', 'schemas'],
  ['Not', 'not', 'schema'],
  ['Properties', 'properties', 'properties'],
  ['AdditionalProperties', 'additionalProperties', 'additional'],
  ['PatternProperties', 'patternProperties', 'properties'],
  ['Dependencies', 'dependencies', 'value'],
  ['AdditionalItems', 'additionalItems', 'additional'],
  ['Definitions', 'definitions', 'properties'],
  ['ExternalDocs', 'externalDocs', 'docs'],
  ['Example', 'example', 'value'],
  ['XPreserveUnknownFields', 'x-kubernetes-preserve-unknown-fields', 'value'],
  ['XEmbeddedResource', 'x-kubernetes-embedded-resource', 'flag'],
  ['XIntOrString', 'x-kubernetes-int-or-string', 'flag'],
  ['XListMapKeys', 'x-kubernetes-list-map-keys', 'value'],
  ['XListType', 'x-kubernetes-list-type', 'value'],
  ['XMapType', 'x-kubernetes-map-type', 'value'],
  ['XValidations', 'x-kubernetes-validations', 'rules'],
];

/**
 * A schema as Go's `json.Marshal` writes apiextensions' internal type, which has no JSON names: what upstream's messages show
 * of a schema or of a version. Members stand in the order of the struct; `JSON.stringify` gives the text.
 */
export function goSchemaProps(schema: unknown): Record<string, unknown> {
  const source = isJsonObject(schema) ? schema : {};
  return Object.fromEntries(MEMBERS.map(([go, json, shape]) => [go, show(source[json], shape)]));
}

/** The members of a schema that are set, by their Go names, in the order of the Go struct. */
export function setMembers(schema: object): string[] {
  const source = schema as Readonly<Record<string, unknown>>;
  return MEMBERS.filter(([, json]) => isSet(source[json])).map(([go]) => go);
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== false && value !== 0;
}

function show(value: unknown, shape: Shape): unknown {
  if (shape === 'text') return value ?? '';
  if (shape === 'flag') return value ?? false;
  if (value === undefined || value === null) return null;
  switch (shape) {
    case 'schema':
      return goSchemaProps(value);
    case 'schemas':
      return Array.isArray(value) ? value.map(goSchemaProps) : null;
    case 'properties':
      return mapSorted(value, goSchemaProps);
    case 'items':
      return Array.isArray(value)
        ? { Schema: null, JSONSchemas: value.map(goSchemaProps) }
        : { Schema: goSchemaProps(value), JSONSchemas: null };
    case 'additional':
      return { Allows: value !== false, Schema: typeof value === 'object' ? goSchemaProps(value) : null };
    case 'docs':
      return isJsonObject(value) ? { Description: value.description ?? '', URL: value.url ?? '' } : null;
    case 'rules':
      return Array.isArray(value) ? value.map(goRule) : null;
    default:
      return value;
  }
}

function goRule(rule: unknown): Record<string, unknown> {
  const { rule: text, message, messageExpression, reason, fieldPath, optionalOldSelf } = isJsonObject(rule) ? rule : {};
  return {
    Rule: text ?? '',
    Message: message ?? '',
    MessageExpression: messageExpression ?? '',
    Reason: reason ?? null,
    FieldPath: fieldPath ?? '',
    OptionalOldSelf: optionalOldSelf ?? null,
  };
}

function mapSorted(value: unknown, each: (item: unknown) => unknown): Record<string, unknown> {
  const entries = Object.entries(value as object).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return Object.fromEntries(entries.map(([key, item]) => [key, each(item)]));
}

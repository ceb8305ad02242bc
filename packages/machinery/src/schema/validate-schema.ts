import type { KubeObject } from '../object.ts';
import type { FieldError } from '../status.ts';
import { fieldInvalid } from './field-errors.ts';
import type { StructuralSchema } from './structural-schema.ts';
import { validateEmbedded } from './validate-embedded.ts';
import { validateLists } from './validate-lists.ts';
import { ValueValidator } from './value-validator.ts';

export interface ValidateOptions {
  /** The field at which `object` stands; empty for a whole object. */
  path?: string;
  /** The object as it was stored: what did not change is not checked again (ratcheting, KEP-4008). */
  old?: unknown;
  /** Faults that other rules found in the values: a server reports them after those that the schema's own rules find. */
  others?: readonly FieldError[];
}

const UNCHECKED =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

/** After such faults no CEL rule is looked at. */
const BLOCKING: readonly string[] = [
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
];

/**
 * The faults of `object` against the value validations of its schema, against the metadata that embedded resources must
 * have, and against list types, in the order and the words of a kube-apiserver. CEL rules are not looked at; where there are
 * some that a server would not look at either, it says so.
 */
export function validateSchema(object: unknown, schema: StructuralSchema, options: ValidateOptions = {}): FieldError[] {
  return withStructure(validateValues(object, schema, options), object, schema, options);
}

/**
 * The same for an update of the status alone: only its values are checked, and named from there on, but embedded resources
 * and list types in the whole object.
 */
export function validateStatusSchema(
  object: KubeObject,
  schema: StructuralSchema,
  { old, others = [] }: { old: KubeObject; others?: readonly FieldError[] },
): FieldError[] {
  const status = schema.declared.get('status');
  const values =
    status && object.status !== undefined
      ? validateValues(object.status, status, { path: 'status', old: old.status })
      : [];
  return withStructure(values, object, schema, { old, others });
}

function withStructure(
  values: readonly FieldError[],
  object: unknown,
  schema: StructuralSchema,
  { path = '', old, others = [] }: ValidateOptions,
): FieldError[] {
  const errors = [...values, ...others];
  if (schema.hasEmbedded) errors.push(...validateEmbedded(object, schema, path));
  // Lists that were wrong before may stay so.
  if (schema.hasListTypes && (old === undefined || validateLists(old, schema, path).length === 0)) {
    errors.push(...validateLists(object, schema, path));
  }
  if (schema.hasRules && errors.some(({ type }) => BLOCKING.includes(type)))
    errors.push(fieldInvalid('<nil>', null, UNCHECKED));
  return errors;
}

/** The first part of {@link validateSchema} alone: types, patterns, limits, required fields, enums. */
export function validateValues(value: unknown, schema: StructuralSchema, options: ValidateOptions = {}): FieldError[] {
  const validator = new ValueValidator(options.path ?? '');
  validator.validate(schema, value, '', options.old);
  return validator.errors;
}

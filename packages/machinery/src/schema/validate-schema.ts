import type { FieldError } from '../status.ts';
import type { StructuralSchema } from './structural-schema.ts';
import { validateEmbedded } from './validate-embedded.ts';
import { validateLists } from './validate-lists.ts';
import { ValueValidator } from './value-validator.ts';

export interface ValidateOptions {
  /** The field at which `object` stands; empty for a whole object. */
  path?: string;
  /** The object as it was stored: what did not change is not checked again (ratcheting, KEP-4008). */
  old?: unknown;
}

/**
 * The faults of `object` against the value validations of its schema, against the metadata that embedded resources must
 * have, and against list types, in the order and the words of a kube-apiserver. CEL rules are not looked at.
 */
export function validateSchema(object: unknown, schema: StructuralSchema, options: ValidateOptions = {}): FieldError[] {
  const { path = '', old } = options;
  const errors = [...validateValues(object, schema, options), ...validateEmbedded(object, schema, path)];
  // Lists that were wrong before may stay so.
  const wasValid = old === undefined || validateLists(old, schema, path).length === 0;
  return wasValid ? [...errors, ...validateLists(object, schema, path)] : errors;
}

/** The first of the three parts of {@link validateSchema} alone: types, patterns, limits, required fields, enums. */
export function validateValues(value: unknown, schema: StructuralSchema, options: ValidateOptions = {}): FieldError[] {
  const validator = new ValueValidator(options.path ?? '');
  validator.validate(schema, value, '', options.old);
  return validator.errors;
}

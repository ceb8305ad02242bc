import type { FieldError } from '../status.ts';
import { checkDefaults } from './check-defaults.ts';
import { checkSchemaRules } from './check-schema-rules.ts';
import { checkInvariants } from './check-invariants.ts';
import { fieldForbidden, fieldInvalid, fieldInvalidJson } from './field-errors.ts';
import { goSchemaProps, setMembers } from './go-schema-props.ts';
import type { OpenApiSchema } from './open-api-schema.ts';

export interface CheckStructuralOptions {
  /** Where the schema stands; a server says `spec.validation.openAPIV3Schema` where all versions have the same one. */
  path?: string;
  /** The version has a status subresource: the root may then say less. */
  statusSubresource?: boolean;
}

/** Members that a schema may have at its root beside a status subresource, by the names that the message gives them. */
const ROOT_MEMBERS =
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations';

/** Members of JSON schema that no schema of a custom resource may have. */
const UNSUPPORTED = ['id', '$schema', '$ref', 'patternProperties', 'dependencies', 'additionalItems', 'definitions'];

/**
 * The faults for which a server refuses a CustomResourceDefinition's `openAPIV3Schema`: it must be structural, its defaults
 * must be valid and pruned, and its extensions must agree with each other. CEL rules are checked for form, not compiled.
 */
export function checkStructural(schema: OpenApiSchema, options: CheckStructuralOptions = {}): FieldError[] {
  const { path = 'spec.validation.openAPIV3Schema' } = options;
  const errors: FieldError[] = options.statusSubresource ? checkRootMembers(schema, path) : [];
  if (schema.nullable) errors.push(fieldForbidden(`${path}.nullable`, 'nullable cannot be true at the root'));
  const unsupported = findUnsupported(schema);
  if (unsupported === undefined) {
    const structural = checkInvariants(schema, path);
    errors.push(...(structural.length > 0 ? structural : checkDefaults(schema, path)));
  }
  errors.push(...checkSchemaRules(schema, path));
  if (errors.length === 0 && unsupported !== undefined) errors.push(fieldInvalid(path, '', unsupported));
  return errors;
}

function checkRootMembers(schema: OpenApiSchema, path: string): FieldError[] {
  const allowed = ROOT_MEMBERS.split(' ');
  for (const member of setMembers(schema)) {
    if (member === 'Type' && schema.type !== 'object') {
      const detail =
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
      return [fieldInvalid(`${path}.type`, schema.type, detail)];
    }
    if (allowed.includes(member)) continue;
    const rule = `only [${ROOT_MEMBERS}] fields are allowed at the root of the schema if the status subresource is enabled`;
    return [fieldInvalidJson(path, JSON.stringify(goSchemaProps(schema)), rule)];
  }
  return [];
}

/** Why the schema cannot be read as a structural one. */
function findUnsupported(schema: unknown): string | undefined {
  if (Array.isArray(schema)) return firstOf(schema, findUnsupported);
  if (typeof schema !== 'object' || schema === null) return undefined;
  const source = schema as Record<string, unknown>;
  const member = UNSUPPORTED.find((name) => source[name] !== undefined);
  if (member !== undefined) return `OpenAPIV3Schema '${member === '$schema' ? 'schema' : member}' is not supported`;
  if (Array.isArray(source.items)) return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  if (source['x-kubernetes-preserve-unknown-fields'] === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  }
  const children = [source.items, source.additionalProperties, source.not, source.allOf, source.anyOf, source.oneOf];
  return firstOf([...children, ...Object.values(source.properties ?? {})], findUnsupported);
}

function firstOf<T>(values: readonly T[], find: (value: T) => string | undefined): string | undefined {
  for (const value of values) {
    const found = find(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

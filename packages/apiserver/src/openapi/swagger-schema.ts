import type { OpenApiSchema } from '@asterism/machinery';
import { typeAndObjectMeta } from './component-schemas.ts';

/** What OpenAPI v2 has no word for, and defaults, which upstream does not publish there. */
type Dropped = 'allOf' | 'anyOf' | 'oneOf' | 'not' | 'default' | 'nullable' | 'example';

/** A schema in the words of OpenAPI v2. */
export type SwaggerSchema = Omit<OpenApiSchema, Dropped | 'properties' | 'items' | 'additionalProperties'> & {
  properties?: Readonly<Record<string, SwaggerSchema>>;
  items?: SwaggerSchema;
  additionalProperties?: SwaggerSchema | boolean;
};

/** The component of a built-in kind as a definition of OpenAPI v2. */
export function swaggerSchema(schema: OpenApiSchema): SwaggerSchema {
  const { allOf, anyOf: _a, oneOf, not: _n, default: _d, nullable: _l, example: _e, ...rest } = schema;
  const { properties, items, additionalProperties, $ref = allOf?.[0]?.$ref, ...words } = rest;
  return {
    ...words,
    // Quantities and IntOrString: either of two types, of which v2 can name one.
    ...(oneOf === undefined ? {} : { type: 'string' }),
    ...($ref === undefined ? {} : { $ref: definitionReference($ref) }),
    ...(properties === undefined ? {} : { properties: mapSchemas(properties) }),
    ...(items === undefined ? {} : { items: swaggerSchema(items) }),
    ...(additionalProperties === undefined
      ? {}
      : {
          additionalProperties:
            typeof additionalProperties === 'object' ? swaggerSchema(additionalProperties) : additionalProperties,
        }),
  };
}

function definitionReference(ref: string): string {
  return ref.replace('#/components/schemas/', '#/definitions/');
}

function mapSchemas(schemas: Readonly<Record<string, OpenApiSchema>>): Record<string, SwaggerSchema> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, swaggerSchema(schema)]));
}

/**
 * The schema of a custom resource such that kubectl validates nothing wrongly by its v2 form: what kubectl cannot read there
 * (nullable values, unknown fields that are kept, lists of anything) is left open. The rules are those of upstream's
 * `ToStructuralOpenAPIV2`.
 */
export function customSwaggerSchema(schema: OpenApiSchema | undefined): OpenApiSchema {
  if (schema === undefined || schema['x-kubernetes-preserve-unknown-fields'] === true) return { type: 'object' };
  const { properties, ...rest } = openUp({ type: 'object', ...schema });
  return { ...rest, properties: { ...properties, ...typeAndObjectMeta() } };
}

function openUp(schema: OpenApiSchema): OpenApiSchema {
  const { allOf: _a, anyOf: _b, oneOf: _c, not: _d, nullable, ...kept } = schema;
  const { type, items, properties, additionalProperties, required, ...rest } = kept;
  const isOpen = nullable === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
  const closed = isOpen ? {} : { items, properties };
  const untyped = nullable === true || (type === 'array' && closed.items === undefined);
  const needed = required?.filter((name) => properties?.[name]?.nullable !== true) ?? [];
  const isNullableMap = typeof additionalProperties === 'object' && additionalProperties.nullable === true;
  const opened: OpenApiSchema = {
    ...rest,
    ...(type === undefined || untyped ? {} : { type }),
    ...(closed.items === undefined ? {} : { items: openUp(closed.items) }),
    ...(closed.properties === undefined ? {} : { properties: openUpAll(closed.properties) }),
    ...(typeof additionalProperties === 'object' ? { additionalProperties: openUp(additionalProperties) } : {}),
    ...(needed.length === 0 || isNullableMap ? {} : { required: needed }),
  };
  if (schema['x-kubernetes-embedded-resource'] !== true || isOpen) return opened;
  const missing = ['kind', 'apiVersion'].filter((name) => !needed.includes(name));
  return {
    ...opened,
    required: [...needed, ...missing],
    properties: { ...opened.properties, ...typeAndObjectMeta() },
  };
}

function openUpAll(schemas: Readonly<Record<string, OpenApiSchema>>): Record<string, OpenApiSchema> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, openUp(schema)]));
}

import { objectMetaSchema } from './builtin-schemas.ts';
import type { OpenApiSchema } from './open-api-schema.ts';
import { StructuralSchema, type SchemaOrigin } from './structural-schema.ts';

const origin: SchemaOrigin = {
  builtin: false,
  named(ref) {
    throw new Error(`a schema of a custom resource refers to ${ref}; it cannot refer to others`);
  },
  objectMeta: objectMetaSchema,
};

/**
 * The schema of a custom resource: `openAPIV3Schema` of one version of its CustomResourceDefinition, to which apiVersion,
 * kind and metadata are added as every resource has them. Compile it once a version and keep it.
 */
export function customResourceSchema(openAPIV3Schema: OpenApiSchema): StructuralSchema {
  return new StructuralSchema(openAPIV3Schema, origin, { resource: true });
}

/** The view of a schema that stands alone and describes any value, e.g. a part of a custom resource. */
export function structuralSchema(schema: OpenApiSchema): StructuralSchema {
  return new StructuralSchema(schema, origin);
}

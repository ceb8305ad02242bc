import type { GroupVersion, OpenApiSchema } from '@asterism/machinery';
import { componentSchemas, typeAndObjectMeta } from './component-schemas.ts';
import type { DescribedResource } from './described-resource.ts';
import { type PathItem, resourcePaths } from './openapi-paths.ts';

/** The OpenAPI v3 document of one group-version: its paths, and the schemas that they reach, no others. */
export function openApiDocument(at: GroupVersion, resources: readonly DescribedResource[], gitVersion: string) {
  const schemas = componentSchemas(resources, customSchema);
  const paths: Record<string, PathItem> = {};
  for (const resource of resources) Object.assign(paths, resourcePaths(at, resource, schemas));
  const components = [...schemas.reachableFrom(paths)].map(([name, { schema }]) => [name, schema]);
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: gitVersion },
    paths,
    components: { schemas: Object.fromEntries(components) as Record<string, OpenApiSchema> },
  };
}

/** Without a schema anything is allowed, and no field may be named: clients would take it for the only one. */
function customSchema(schema: OpenApiSchema | undefined): OpenApiSchema {
  if (schema === undefined) return { type: 'object' };
  return embedded({ type: 'object', ...schema, properties: { ...schema.properties, ...typeAndObjectMeta() } });
}

/** Says of embedded resources too what every resource has. */
function embedded(schema: OpenApiSchema): OpenApiSchema {
  const { properties, items, additionalProperties, required = [] } = schema;
  const own: OpenApiSchema = {
    ...schema,
    ...(properties ? { properties: mapValues(properties, embedded) } : {}),
    ...(items ? { items: embedded(items) } : {}),
    ...(typeof additionalProperties === 'object' ? { additionalProperties: embedded(additionalProperties) } : {}),
  };
  if (schema['x-kubernetes-embedded-resource'] !== true) return own;
  const needed = ['kind', 'apiVersion'].filter((name) => !required.includes(name));
  return { ...own, required: [...required, ...needed], properties: { ...own.properties, ...typeAndObjectMeta() } };
}

function mapValues<A, B>(values: Readonly<Record<string, A>>, map: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]));
}

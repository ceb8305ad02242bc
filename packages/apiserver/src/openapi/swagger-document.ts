import { componentSchemas } from './component-schemas.ts';
import type { DescribedResource } from './described-resource.ts';
import { type Operation, type Parameter, type PathItem, resourcePaths } from './openapi-paths.ts';
import { customSwaggerSchema, swaggerSchema } from './swagger-schema.ts';

/**
 * The OpenAPI v2 document of all that is served. Old clients read nothing else: kubectl before 1.27, and of any version for an
 * object of the kind `List`.
 */
export function swaggerDocument(resources: readonly DescribedResource[], gitVersion: string) {
  const schemas = componentSchemas(resources, customSwaggerSchema);
  const paths: Record<string, PathItem> = {};
  for (const resource of resources) {
    const { group, version } = resource.type;
    Object.assign(paths, resourcePaths({ group, version }, resource, schemas));
  }
  const definitions: Record<string, object> = {};
  for (const [name, { schema }] of schemas.reachableFrom(paths)) definitions[name] = swaggerSchema(schema);
  const sorted = Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: gitVersion },
    paths: Object.fromEntries(sorted.map(([path, item]) => [path, swaggerPathItem(item)])),
    definitions,
    securityDefinitions: {
      BearerToken: { description: 'Bearer Token authentication', type: 'apiKey', name: 'authorization', in: 'header' },
    },
    security: [{ BearerToken: [] }],
  };
}

function swaggerPathItem({ parameters, ...operations }: PathItem): Record<string, unknown> {
  const methods = Object.entries(operations).map(([method, operation]) => [method, swaggerOperation(operation)]);
  return {
    ...Object.fromEntries(methods),
    ...(parameters === undefined ? {} : { parameters: parameters.map(swaggerParameter) }),
  };
}

function swaggerOperation({ requestBody, parameters = [], responses, ...rest }: Operation): Record<string, unknown> {
  const [body] = Object.values(requestBody?.content ?? {});
  const required = requestBody?.required === true ? { required: true } : {};
  const answers = Object.entries(responses).map(([code, { description, content = {} }]) => {
    const [answer] = Object.values(content);
    return [code, { description, ...(answer === undefined ? {} : { schema: swaggerSchema(answer.schema) }) }];
  });
  return {
    ...rest,
    schemes: ['https'],
    consumes: Object.keys(requestBody?.content ?? { '*/*': {} }),
    produces: Object.keys(responses['200']?.content ?? {}),
    parameters: [
      ...(body === undefined ? [] : [{ name: 'body', in: 'body', ...required, schema: swaggerSchema(body.schema) }]),
      ...parameters.map(swaggerParameter),
    ],
    responses: Object.fromEntries(answers),
  };
}

function swaggerParameter({ schema, ...parameter }: Parameter): object {
  return { ...parameter, ...schema };
}

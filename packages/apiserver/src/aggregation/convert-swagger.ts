import type { SwaggerPart } from '../openapi/remote-description.ts';
import { mapReferences } from '../openapi/swagger-references.ts';

type Fields = Record<string, unknown>;

const SCHEMAS = '#/components/schemas/';
const ANY = ['*/*'];
const METHODS = new Set(['delete', 'get', 'head', 'options', 'patch', 'post', 'put']);

/** A part of OpenAPI v2 as a document of v3, for clients that read nothing else of servers that have no v3. */
export function convertSwagger({ paths, definitions }: SwaggerPart): object {
  const own = mapReferences({ paths, definitions }, (name) => name, SCHEMAS) as unknown as SwaggerPart;
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'unversioned' },
    paths: mapFields(own.paths, convertPath),
    components: { schemas: own.definitions },
  };
}

function convertPath(item: Fields): Fields {
  return Object.fromEntries(
    Object.entries(item).map(([key, value]) => {
      if (METHODS.has(key)) return [key, convertOperation(value as Fields)];
      return [key, key === 'parameters' ? listOf(value).map(convertParameter) : value];
    }),
  );
}

function convertOperation({ consumes, produces, parameters, responses, ...rest }: Fields): Fields {
  delete rest.schemes;
  const all = listOf(parameters);
  const body = all.find((each) => each.in === 'body');
  const others = all.filter((each) => each !== body).map(convertParameter);
  return {
    ...rest,
    ...(others.length === 0 ? {} : { parameters: others }),
    ...(body === undefined ? {} : { requestBody: requestBody(body, consumes) }),
    responses: mapFields((responses ?? {}) as Fields, ({ schema, ...answer }) => ({
      ...answer,
      ...(schema === undefined ? {} : { content: contentOf(schema, produces) }),
    })),
  };
}

function requestBody({ schema, description, required }: Fields, consumes: unknown): Fields {
  return {
    ...(description === undefined ? {} : { description }),
    ...(required === undefined ? {} : { required }),
    content: contentOf(schema, consumes),
  };
}

function contentOf(schema: unknown, types: unknown): Fields {
  const named = Array.isArray(types) && types.length > 0 ? (types as string[]) : ANY;
  return Object.fromEntries(named.map((type) => [type, { schema }]));
}

function convertParameter({ name, in: place, description, required, ...schema }: Fields): Fields {
  return {
    name,
    in: place,
    ...(description === undefined ? {} : { description }),
    ...(required === undefined ? {} : { required }),
    schema,
  };
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? (value as Fields[]) : [];
}

function mapFields(fields: Fields, map: (value: Fields) => Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, map((value ?? {}) as Fields)]));
}

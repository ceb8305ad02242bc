import type { OpenApiSchema } from '@asterism/machinery';

/** A schema and all schemas within it, each before those that it has. */
export function* schemasWithin(schema: OpenApiSchema | undefined): Generator<OpenApiSchema> {
  if (typeof schema !== 'object' || schema === null) return;
  yield schema;
  const { items, additionalProperties, not, allOf = [], anyOf = [], oneOf = [], properties = {} } = schema;
  const children = [items, additionalProperties, not, ...allOf, ...anyOf, ...oneOf, ...Object.values(properties)];
  for (const child of children) if (typeof child === 'object') yield* schemasWithin(child);
}

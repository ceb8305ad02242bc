/** Turns the JSON schema that TypeBox writes into the structural form that a CustomResourceDefinition may carry. */

type Schema = { [key: string]: unknown };

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const mapValues = (value: unknown): Schema =>
  Object.fromEntries(Object.entries(isSchema(value) ? value : {}).map(([name, child]) => [name, structural(child)]));

/** Properties and requirements of all parts of an intersection, as one object. */
function mergeParts(parts: readonly unknown[]): Schema {
  const merged: Schema = { type: 'object' };
  for (const part of parts.map(structural)) {
    if (isSchema(part['properties']))
      merged['properties'] = { ...(merged['properties'] as Schema), ...part['properties'] };
    if (Array.isArray(part['required'])) {
      merged['required'] = [...((merged['required'] as string[] | undefined) ?? []), ...(part['required'] as string[])];
    }
  }
  return merged;
}

export function structural(input: unknown): Schema {
  if (!isSchema(input)) throw new TypeError(`not a schema: ${JSON.stringify(input)}`);
  const { allOf, patternProperties, properties, items, required, ...rest } = input;
  if (Array.isArray(allOf)) return { ...rest, ...mergeParts(allOf) };
  const schema: Schema = { ...rest };
  if (schema['enum'] !== undefined) schema['type'] = 'string';
  if (schema['type'] === undefined) schema['x-kubernetes-preserve-unknown-fields'] = true;
  if (properties !== undefined) schema['properties'] = mapValues(properties);
  if (items !== undefined) schema['items'] = structural(items);
  if (Array.isArray(required) && required.length > 0) schema['required'] = required;
  if (isSchema(patternProperties) && schema['x-kubernetes-preserve-unknown-fields'] !== true) {
    schema['additionalProperties'] = structural(Object.values(patternProperties)[0]);
  }
  return schema;
}

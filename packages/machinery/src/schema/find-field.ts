import type { OpenApiSchema } from './open-api-schema.ts';

/** Where a path leads in a schema, or why it leads nowhere. */
export type FoundField = { schema: OpenApiSchema; segments: readonly string[] } | { fault: string };

const NOT_A_FIELD = 'does not refer to a valid field';
const ENDED = 'unexpected end of JSON path';

/**
 * The declared field that a path such as `.spec['a.b'].c` leads to below `schema`, in the words of the check that upstream
 * has for `selectableFields` and for the `fieldPath` of a CEL rule.
 *
 * @param options.brackets whether names in brackets are allowed; default true.
 */
export function findField(path: string, schema: OpenApiSchema, { brackets = true } = {}): FoundField {
  const tokens = tokensOf(path);
  const segments: string[] = [];
  let node: OpenApiSchema | undefined = schema;
  for (let token = tokens.shift(); token !== undefined; token = tokens.shift()) {
    if (token !== '.' && token !== '[') return { fault: `expected [ or . but got: ${token}` };
    if (token === '[' && !brackets) return { fault: 'array notation is not allowed' };
    let name = tokens.shift();
    if (name === undefined) return { fault: ENDED };
    if (token === '[') {
      if (!/^'.*'$/s.test(name) || name.length < 2) return { fault: `expected single quoted string but got ${name}` };
      name = name.slice(1, -1).replaceAll(/\\(.)/gs, '$1');
    }
    node = childOf(node, name);
    if (!node) return { fault: NOT_A_FIELD };
    segments.push(name);
    if (token !== '[') continue;
    const end = tokens.shift();
    if (end !== ']') return { fault: end === undefined ? ENDED : `expected ] but got ${end}` };
  }
  return { schema: node, segments };
}

function childOf({ properties, additionalProperties }: OpenApiSchema, name: string): OpenApiSchema | undefined {
  if (properties && Object.keys(properties).length > 0) {
    return Object.hasOwn(properties, name) ? properties[name] : undefined;
  }
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

/** Dots and brackets one by one; all between them, and what is in single quotes, whole. */
function tokensOf(path: string): string[] {
  return path.match(/'(?:[^'\\]|\\.)*'?|[.[\]]|[^.[\]]+/gs) ?? [];
}

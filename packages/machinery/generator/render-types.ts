import type { KubernetesFacts, Schema } from './kubernetes-facts.ts';
import type { TypeNames } from './type-names.ts';

const REF = '#/components/schemas/';

/** The text of one module of types, e.g. of `apps-v1`. */
export function renderTypes(module: string, schemaNames: string[], facts: KubernetesFacts, names: TypeNames): string {
  const imports = new Map<string, Set<string>>();
  const refer = (schemaName: string): string => {
    const inline = names.inline(schemaName);
    if (inline !== undefined) return inline;
    const target = names.of(schemaName);
    if (target.module !== module) {
      const from = target.module === undefined ? '../object.ts' : `./${target.module}.ts`;
      imports.set(from, (imports.get(from) ?? new Set()).add(target.name));
    }
    return target.name;
  };
  const types = schemaNames.map((schemaName) =>
    renderType(names.of(schemaName).name, facts.schemas[schemaName], refer),
  );
  const importLines = [...imports]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([from, used]) => `import type { ${[...used].sort().join(', ')} } from '${from}';\n`);
  return [importLines.join(''), ...types].filter((part) => part !== '').join('\n');
}

/**
 * Kinds are type aliases and parts are interfaces: only an alias is assignable to `KubeObject`, whose index signature an
 * interface would have to repeat, and then every misspelt field would be `unknown` instead of an error.
 */
function renderType(name: string, schema: Schema | undefined, refer: (schemaName: string) => string): string {
  const isKind = schema?.['x-kubernetes-group-version-kind'] !== undefined;
  const fields = Object.entries(schema?.properties ?? {}).map(([field, value]) => {
    const key = /^[A-Za-z_]\w*$/.test(field) ? field : `'${field}'`;
    const optional = schema?.required?.includes(field) ? '' : '?';
    return `  ${key}${optional}: ${typeOf(value, refer)};\n`;
  });
  if (fields.length === 0) return `export type ${name} = Record<string, unknown>;\n`;
  return isKind
    ? `export type ${name} = {\n${fields.join('')}};\n`
    : `export interface ${name} {\n${fields.join('')}}\n`;
}

function typeOf(schema: Schema, refer: (schemaName: string) => string): string {
  const target = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (target !== undefined) return refer(target.slice(REF.length));
  if (schema.enum) return schema.enum.map((value) => `'${value}'`).join(' | ');
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'number':
      return schema.type;
    case 'integer':
      return 'number';
    case 'array': {
      const items = typeOf(schema.items ?? {}, refer);
      return items.includes(' ') ? `(${items})[]` : `${items}[]`;
    }
    case 'object':
      return `Record<string, ${schema.additionalProperties ? typeOf(schema.additionalProperties, refer) : 'unknown'}>`;
    default:
      return 'unknown';
  }
}

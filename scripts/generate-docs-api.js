// The reference of the API kinds: a page for each schema, and one for the shapes that several of them share.
import { readFileSync } from 'node:fs';
import { structural } from '../packages/fleet/generator/structural.ts';
import * as parts from '../packages/fleet/src/api/schema/parts.ts';
import { Placement } from '../packages/fleet/src/api/schema/propagation-policy.ts';

/** @typedef {{[key: string]: any}} Schema */

const HEADER = '<!-- Generated from packages/fleet/src/api/schema by `npm run generate`. Do not edit. -->\n';
const SHARED = 'shared-shapes.md';

/** Shapes that stand in a section of their own; wherever they occur the table points there. */
const SHAPES = {
  Placement,
  ClusterAffinity: parts.ClusterAffinity,
  LabelSelector: parts.LabelSelector,
  FieldSelector: parts.FieldSelector,
  ResourceSelector: parts.ResourceSelector,
  Taint: parts.Taint,
  Toleration: parts.Toleration,
  ObjectReference: parts.ObjectReference,
  Condition: parts.Condition,
};

/** @type {Map<string, string>} */
const shapeNames = new Map(Object.entries(SHAPES).map(([name, schema]) => [fingerprint(structural(schema)), name]));

/** What makes two schemas the same shape, whatever is said of them. @param {Schema} schema @returns {string} */
function fingerprint(schema) {
  return JSON.stringify(schema, (key, value) =>
    key === 'description' && typeof value === 'string' ? undefined : value,
  );
}

/** @returns {Promise<Map<string, string>>} pages by their path below docs/reference */
export async function apiPages() {
  const file = new URL('../packages/fleet/src/generated/custom-resource-definitions.json', import.meta.url);
  const definitions = /** @type {any[]} */ (JSON.parse(readFileSync(file, 'utf8')));
  const groups = Map.groupBy(definitions, ({ spec }) => JSON.stringify(spec.versions[0].schema));
  const pages = new Map([[`api/${SHARED}`, sharedPage()]]);
  /** @type {string[]} */
  const rows = [];
  for (const kinds of groups.values()) {
    const page = `${kebab(kinds[0].spec.names.kind)}.md`;
    pages.set(`api/${page}`, kindPage(kinds));
    for (const { spec } of kinds) {
      const { kind, plural, shortNames } = spec.names;
      rows.push(`| [${kind}](${page}) | \`${plural}\` | \`${shortNames.join('`, `')}\` | ${scopeOf(spec)} |`);
    }
  }
  pages.set('api/README.md', indexPage(rows));
  return pages;
}

/** @param {readonly string[]} rows */
function indexPage(rows) {
  return `${HEADER}
# API reference

The kinds of \`asterism.dev/v1alpha1\`. \`kubectl explain\` knows them too, and \`kubectl get asterism -A\` lists all of them. A field that
is not in the schema is an error.

| kind | resource | short | scope |
|---|---|---|---|
${rows.join('\n')}

Shapes that several kinds use: [shared shapes](${SHARED}). The CustomResourceDefinitions themselves:
[packages/fleet/crds](../../../packages/fleet/crds).
`;
}

/** @param {any[]} kinds one, or the namespaced and the cluster-wide form of one */
function kindPage(kinds) {
  const { spec } = kinds[0];
  const version = spec.versions[0];
  const { properties } = version.schema.openAPIV3Schema;
  const title = kinds.map((/** @type {any} */ kind) => kind.spec.names.kind).join(', ');
  const names = kinds.map(({ spec: { names, ...rest } }) => {
    return `| ${names.kind} | \`${names.plural}\` | \`${names.shortNames.join('`, `')}\` | ${scopeOf(rest)} |`;
  });
  const columns = version.additionalPrinterColumns.map((/** @type {Schema} */ column) => {
    const wide = column['priority'] > 0 ? ' (`-o wide`)' : '';
    return `| ${column['name']}${wide} | \`${column['jsonPath'].replaceAll('|', '\\|')}\` |`;
  });
  return `${HEADER}
# ${title}

\`apiVersion: ${spec.group}/${version.name}\`

| kind | resource | short | scope |
|---|---|---|---|
${names.join('\n')}

## spec

${describe(properties.spec)}${table(properties.spec, 'spec')}
${properties.status ? `\n## status\n\n${describe(properties.status)}${table(properties.status, 'status')}\n` : ''}
## Columns of kubectl get

| column | from |
|---|---|
${columns.join('\n')}
`;
}

function sharedPage() {
  const sections = Object.entries(SHAPES).map(([name, shape]) => {
    const schema = structural(shape);
    return `## ${name}\n\n${describe(schema)}${table(schema, '')}\n`;
  });
  return `${HEADER}\n# Shared shapes\n\nParts of several kinds of the [API](README.md).\n\n${sections.join('\n')}`;
}

/** @param {Schema} schema */
const describe = ({ description }) => (description === undefined ? '' : `${description}.\n\n`);

/** @param {Schema} schema @param {string} path */
function table(schema, path) {
  return `| field | type | what |\n|---|---|---|\n${rowsOf(schema, path).join('\n')}`;
}

/** A row for each field below `path`, depth first, as they are written. @param {Schema} schema @param {string} path @returns {string[]} */
function rowsOf(schema, path) {
  const required = new Set(schema['required'] ?? []);
  return Object.entries(schema['properties'] ?? {}).flatMap(([name, field]) => {
    const at = path === '' ? name : `${path}.${name}`;
    const what = [required.has(name) ? '**required**' : '', field.description, ...rulesOf(field)].filter(Boolean);
    const row = `| \`${at}\` | ${typeOf(field)} | ${cell(what.join('; '))} |`;
    const inner = field.type === 'array' ? field.items : field;
    const isShape = shapeNames.has(fingerprint(inner));
    return isShape ? [row] : [row, ...rowsOf(inner, field.type === 'array' ? `${at}[]` : at)];
  });
}

/** @param {Schema} schema @returns {string} */
function typeOf(schema) {
  const shape = shapeNames.get(fingerprint(schema));
  if (shape !== undefined) return `[${shape}](${SHARED}#${shape.toLowerCase()})`;
  if (schema['type'] === 'array') return `list of ${typeOf(schema['items'])}`;
  if (schema['additionalProperties']) return `map of ${typeOf(schema['additionalProperties'])}`;
  if (schema['x-kubernetes-embedded-resource']) return 'a whole object';
  if (schema['x-kubernetes-preserve-unknown-fields']) return schema['type'] === 'object' ? 'any object' : 'any value';
  if (schema['format'] === 'date-time') return 'time (RFC 3339)';
  return schema['format'] === undefined ? schema['type'] : `${schema['type']} (${schema['format']})`;
}

/** What the schema demands, in words. @param {Schema} schema @returns {string[]} */
function rulesOf(schema) {
  const { items, minimum, minLength, maxLength, minItems, pattern } = schema;
  const values = schema['enum'] ?? items?.enum;
  const keys = schema['x-kubernetes-list-map-keys'];
  return [
    schema['default'] === undefined ? '' : `default \`${JSON.stringify(schema['default'])}\``,
    values ? `one of \`${values.join('`, `')}\`` : '',
    minLength === 1 ? 'not empty' : minLength ? `at least ${minLength} characters` : '',
    maxLength ? `at most ${maxLength} characters` : '',
    minItems ? `at least ${minItems}` : '',
    minimum === undefined ? '' : `at least ${minimum}`,
    pattern ? `matches \`${pattern}\`` : '',
    keys ? `one for each \`${keys.join('`, `')}\`` : '',
  ];
}

/** @param {string} text */
const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** @param {Schema} spec */
const scopeOf = ({ scope }) => (scope === 'Cluster' ? 'cluster' : 'namespace');

/** @param {string} kind */
const kebab = (kind) => kind.replaceAll(/(?<!^)([A-Z])/g, '-$1').toLowerCase();

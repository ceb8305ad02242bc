import type { DiscoveredResource, KubernetesFacts, ServedResource } from './kubernetes-facts.ts';
import { servedResources } from './kubernetes-facts.ts';
import type { TypeName, TypeNames } from './type-names.ts';

interface NamedResource {
  constant: string;
  resource: ServedResource;
  type: TypeName;
}

/** The text of the module with a `ResourceType` constant for each resource. */
export function renderResourceTypes(facts: KubernetesFacts, names: TypeNames): string {
  const named = nameResources(facts, names);
  const imports = new Map<string, Set<string>>();
  for (const { type } of named) {
    const from = `./${type.module}.ts`;
    imports.set(from, (imports.get(from) ?? new Set()).add(type.name));
  }
  const importLines = [...imports]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([from, used]) => `import type { ${[...used].sort().join(', ')} } from '${from}';\n`);
  const constants = named.map(({ constant, resource, type }) => {
    const { group, version, resource: plural, responseKind, scope } = resource;
    const value = `{ group: '${group}', version: '${version}', resource: '${plural}', kind: '${responseKind.kind}', namespaced: ${scope === 'Namespaced'} }`;
    return `export const ${constant}: ResourceType<${type.name}> = ${value};\n`;
  });
  return `import type { ResourceType } from '../kinds.ts';\n${importLines.join('')}\n${constants.join('')}`;
}

/** The text of the module with `BUILTIN_RESOURCES`. */
export function renderBuiltinResources(facts: KubernetesFacts, names: TypeNames): string {
  const named = nameResources(facts, names);
  const imports = named.map(({ constant }) => `  ${constant},\n`).join('');
  const rows = named.map(({ constant, resource }) => {
    const fields = [
      `...${constant}`,
      `singular: '${resource.singularResource}'`,
      `verbs: ${list(resource.verbs)}`,
      `shortNames: ${list(resource.shortNames)}`,
      `categories: ${list(resource.categories)}`,
      `subresources: [${renderSubresources(resource)}]`,
    ];
    return `  {\n${fields.map((field) => `    ${field},\n`).join('')}  },\n`;
  });
  return [
    `import type { BuiltinResource } from '../builtin-resource.ts';\n`,
    `import {\n${imports}} from './resource-types.ts';\n\n`,
    `/** Every resource that Kubernetes ${facts.version} serves, the preferred version of a group first. */\n`,
    `export const BUILTIN_RESOURCES: readonly BuiltinResource[] = [\n${rows.join('')}];\n`,
  ].join('');
}

/** In discovery an empty group and version mean those of the resource itself. */
function renderSubresources({ group, version, subresources = [] }: ServedResource): string {
  const rows = subresources.map(({ subresource, responseKind, verbs }) => {
    const own = responseKind.version === '';
    const target = own ? { group, version } : responseKind;
    return `\n      { name: '${subresource}', group: '${target.group}', version: '${target.version}', kind: '${responseKind.kind}', verbs: ${list(verbs)} },`;
  });
  return rows.length === 0 ? '' : `${rows.join('')}\n    `;
}

function list(words: string[] | undefined): string {
  return `[${(words ?? []).map((word) => `'${word}'`).join(', ')}]`;
}

/** A constant that two resources would share goes to the first; the others add group or version, as the types do. */
function nameResources(facts: KubernetesFacts, names: TypeNames): NamedResource[] {
  const taken = new Map<string, string>();
  return servedResources(facts).map((resource) => {
    const plain = constantName(resource);
    const holder = taken.get(plain);
    if (holder === undefined) taken.set(plain, resource.group);
    const short = resource.group.split('.')[0] ?? '';
    const suffix =
      holder === undefined ? '' : `_${(holder === resource.group ? resource.version : short).toUpperCase()}`;
    return { constant: plain + suffix, resource, type: names.of(schemaNameOf(resource, facts)) };
  });
}

/** `CONFIG_MAPS` of `configmaps` and `ConfigMap`: the plural in capitals, parted where the kind's words are. */
function constantName({ resource, responseKind }: DiscoveredResource): string {
  const words = responseKind.kind.match(/[A-Z]+(?![a-z])|[A-Z][a-z0-9]*/g) ?? [];
  const leading = words.slice(0, -1);
  const last = resource.slice(leading.join('').length);
  return [...leading, last].join('_').toUpperCase();
}

function schemaNameOf({ group, version, responseKind }: ServedResource, { schemas }: KubernetesFacts): string {
  const found = Object.keys(schemas).find((name) =>
    schemas[name]?.['x-kubernetes-group-version-kind']?.some(
      (gvk) => gvk.group === group && gvk.version === version && gvk.kind === responseKind.kind,
    ),
  );
  if (found === undefined) throw new Error(`no schema has the kind ${group}/${version} ${responseKind.kind}`);
  return found;
}

import { builtinSchemas, type GroupVersion, type GroupVersionKind, type OpenApiSchema } from '@asterism/machinery';
import type { DescribedResource } from './described-resource.ts';
import { reference, resourcePaths } from './openapi-paths.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const REF_PREFIX = '#/components/schemas/';

/** The OpenAPI v3 document of one group-version: its paths, and the schemas that they reach, no others. */
export function openApiDocument(at: GroupVersion, resources: readonly DescribedResource[], gitVersion: string) {
  const custom = customComponents(at, resources);
  const names = namesByKind();
  const componentOf = ({ group, version, kind }: GroupVersionKind): string | undefined => {
    const own = componentName({ group, version, kind });
    return custom.has(own) ? own : names.get(`${group}/${version}/${kind}`);
  };
  const paths: Record<string, unknown> = {};
  for (const resource of resources) Object.assign(paths, resourcePaths(at, resource, { componentOf }));
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: gitVersion },
    paths,
    components: { schemas: reachable(paths, custom) },
  };
}

function namesByKind(): Map<string, string> {
  const names = new Map<string, string>();
  for (const [name, schema] of Object.entries(builtinSchemas())) {
    const kinds = schema['x-kubernetes-group-version-kind'] ?? [];
    for (const { group, version, kind } of kinds) names.set(`${group}/${version}/${kind}`, name);
  }
  return names;
}

/** `com.example.v1.Widget`: the group reversed, as upstream names the schemas of custom resources. */
function componentName({ group, version, kind }: GroupVersionKind): string {
  return [...group.split('.').reverse(), version, kind].join('.');
}

function customComponents(at: GroupVersion, resources: readonly DescribedResource[]): Map<string, OpenApiSchema> {
  const components = new Map<string, OpenApiSchema>();
  for (const resource of resources) {
    if (resource.storage !== 'custom') continue;
    const { kind } = resource.type;
    const list = { ...at, kind: resource.listKind };
    components.set(componentName({ ...at, kind }), customSchema(resource, { ...at, kind }));
    components.set(componentName(list), listSchema(list, componentName({ ...at, kind })));
  }
  return components;
}

function customSchema({ schema }: DescribedResource, gvk: GroupVersionKind): OpenApiSchema {
  const metadata = { allOf: [reference(`${META}.ObjectMeta`)] };
  const properties = {
    ...schema?.properties,
    apiVersion: { type: 'string' as const },
    kind: { type: 'string' as const },
    metadata,
  };
  return { type: 'object', ...schema, properties, 'x-kubernetes-group-version-kind': [gvk] };
}

function listSchema(gvk: GroupVersionKind, item: string): OpenApiSchema {
  return {
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { allOf: [reference(`${META}.ListMeta`)] },
      items: { type: 'array', items: { allOf: [reference(item)] } },
    },
    'x-kubernetes-group-version-kind': [gvk],
  };
}

/** Follows every reference from the paths on. */
function reachable(paths: unknown, custom: ReadonlyMap<string, OpenApiSchema>): Record<string, OpenApiSchema> {
  const builtin = builtinSchemas();
  const found = new Map<string, OpenApiSchema>();
  const visit = (value: unknown): void => {
    if (value === null || typeof value !== 'object') return;
    for (const [key, child] of Object.entries(value)) {
      if (key === '$ref' && typeof child === 'string') add(child.slice(REF_PREFIX.length));
      else visit(child);
    }
  };
  const add = (name: string): void => {
    const schema = custom.get(name) ?? builtin[name];
    if (schema === undefined || found.has(name)) return;
    found.set(name, schema);
    visit(schema);
  };
  visit(paths);
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

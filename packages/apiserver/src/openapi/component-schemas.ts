import { builtinSchemas, type GroupVersionKind, type OpenApiSchema } from '@asterism/machinery';
import type { DescribedResource } from './described-resource.ts';
import type { OperationSchemas } from './openapi-paths.ts';
import { reference } from './openapi-paths.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const REF_PREFIX = '#/components/schemas/';

/** Where the schemas of operations come from: the built-in kinds' own, and those of custom resources. */
export interface ComponentSchemas extends OperationSchemas {
  /** Every component that the value refers to, and that those refer to, sorted by name. */
  reachableFrom(value: unknown): Map<string, { schema: OpenApiSchema; custom: boolean }>;
}

/** @param customise how the schema of a custom resource is published; it has no apiVersion, kind and metadata yet. */
export function componentSchemas(
  resources: readonly DescribedResource[],
  customise: (schema: OpenApiSchema | undefined) => OpenApiSchema,
): ComponentSchemas {
  const builtin = builtinSchemas();
  const custom = customComponents(resources, customise);
  const names = namesByKind();
  return {
    componentOf: (gvk) => {
      const own = componentName(gvk);
      return custom.has(own) ? own : names.get(`${gvk.group}/${gvk.version}/${gvk.kind}`);
    },
    reachableFrom: (value) => {
      const found = new Map<string, { schema: OpenApiSchema; custom: boolean }>();
      const visit = (part: unknown): void => {
        if (part === null || typeof part !== 'object') return;
        for (const [key, child] of Object.entries(part)) {
          if (key === '$ref' && typeof child === 'string') add(child.slice(REF_PREFIX.length));
          else visit(child);
        }
      };
      const add = (name: string): void => {
        const own = custom.get(name);
        const schema = own ?? builtin[name];
        if (schema === undefined || found.has(name)) return;
        found.set(name, { schema, custom: own !== undefined });
        visit(schema);
      };
      visit(value);
      return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
    },
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

function customComponents(
  resources: readonly DescribedResource[],
  customise: (schema: OpenApiSchema | undefined) => OpenApiSchema,
): Map<string, OpenApiSchema> {
  const components = new Map<string, OpenApiSchema>();
  for (const { type, listKind, schema, storage, selectableFields } of resources) {
    if (storage !== 'custom') continue;
    const { group, version, kind } = type;
    const own = { group, version, kind };
    const list = { group, version, kind: listKind };
    const selectable = selectableFields?.length
      ? { 'x-kubernetes-selectable-fields': selectableFields.map((path) => ({ fieldPath: path.replace(/^\./, '') })) }
      : {};
    const gvk = (of: GroupVersionKind) => ({ 'x-kubernetes-group-version-kind': [of] });
    components.set(componentName(own), { ...customise(schema), ...gvk(own), ...selectable });
    components.set(componentName(list), { ...listSchema(componentName(own)), ...gvk(list), ...selectable });
  }
  return components;
}

/** What every resource has: a schema of its own need not say so. */
export function typeAndObjectMeta(): Record<string, OpenApiSchema> {
  return {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { allOf: [reference(`${META}.ObjectMeta`)] },
  };
}

function listSchema(item: string): OpenApiSchema {
  return {
    type: 'object',
    required: ['items'],
    properties: {
      ...typeAndObjectMeta(),
      metadata: { allOf: [reference(`${META}.ListMeta`)] },
      items: { type: 'array', items: { allOf: [reference(item)] } },
    },
  };
}

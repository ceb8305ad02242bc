import type { GrowthServer } from './growth-server.ts';

/** A schema of the OpenAPI document, with references as they are written. */
export interface Schema {
  $ref?: string;
  allOf?: readonly Schema[];
  type?: string;
  format?: string;
  properties?: Readonly<Record<string, Schema>>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  default?: unknown;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
}

/** A kind that can be created, with the schema that the server publishes. */
export interface ServedKind {
  apiVersion: string;
  kind: string;
  /** Of its collection. */
  path: string;
  namespaced: boolean;
  verbs: readonly string[];
  /** Content types of the patches that it takes. */
  patchTypes: readonly string[];
  schema: Schema;
  resolve(schema: Schema): Schema;
  /** By what a schema is known, if it is referred to. */
  nameOf(schema: Schema): string | undefined;
}

interface Paths {
  paths: Readonly<Record<string, { patch?: { requestBody?: { content: Readonly<Record<string, unknown>> } } }>>;
  components: { schemas: Readonly<Record<string, Schema & { 'x-kubernetes-group-version-kind'?: readonly Named[] }>> };
}

interface Named {
  group: string;
  version: string;
  kind: string;
}

interface ResourceList {
  groupVersion: string;
  resources: readonly {
    name: string;
    kind: string;
    group?: string;
    version?: string;
    namespaced: boolean;
    verbs: readonly string[];
  }[];
}

/** Every kind of every version that the server serves and lets callers create, subresources included. */
export async function servedKinds(server: GrowthServer): Promise<ServedKind[]> {
  const documents = await server.getJson<{ paths: Record<string, unknown> }>('/openapi/v3');
  const versions = Object.keys(documents.paths).filter((path) => /^(api|apis\/[^/]+)\/v\w+$/.test(path));
  const all = await Promise.all(
    versions.map(async (version) => {
      const list = await server.getJson<ResourceList>(`/${version}`);
      const document = await server.getJson<Paths>(`/openapi/v3/${version}`);
      return kindsOf(list, document, version);
    }),
  );
  return all.flat();
}

function kindsOf({ groupVersion, resources }: ResourceList, { paths, components }: Paths, root: string): ServedKind[] {
  const schemas = new Map(Object.entries(components.schemas));
  const resolve = (schema: Schema): Schema => {
    const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
    return reference === undefined ? schema : (schemas.get(reference.slice('#/components/schemas/'.length)) ?? {});
  };
  const nameOf = ({ $ref, allOf }: Schema): string | undefined => $ref ?? allOf?.[0]?.$ref;
  return resources.flatMap(({ name, kind, group, version, namespaced, verbs }) => {
    if (!verbs.includes('create') || name.includes('/')) return [];
    const [ownGroup, ownVersion] = groupVersion.includes('/') ? groupVersion.split('/') : ['', groupVersion];
    const wanted = { group: group ?? ownGroup, version: version ?? ownVersion, kind };
    const schema =
      components.schemas &&
      Object.values(components.schemas).find((each) => isOf(each['x-kubernetes-group-version-kind'], wanted));
    if (!schema) throw new Error(`${groupVersion} publishes no schema of ${kind}`);
    const path = namespaced ? `/${root}/namespaces/default/${name}` : `/${root}/${name}`;
    const template = `/${root}/${namespaced ? 'namespaces/{namespace}/' : ''}${name}/{name}`;
    const patchTypes = Object.keys(paths[template]?.patch?.requestBody?.content ?? {});
    if (verbs.includes('patch') && patchTypes.length === 0) throw new Error(`${template} says nothing of patches`);
    return [{ apiVersion: groupVersion, kind, path, namespaced, verbs, patchTypes, schema, resolve, nameOf }];
  });
}

function isOf(names: readonly Named[] | undefined, { group, version, kind }: Partial<Named>): boolean {
  return names?.some((each) => each.group === group && each.version === version && each.kind === kind) ?? false;
}

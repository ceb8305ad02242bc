import { kubernetesFacts } from '#platform';
import type { GroupVersionKind } from '../kinds.ts';
import { once } from './once.ts';
import type { OpenApiSchema } from './open-api-schema.ts';
import { StructuralSchema, type SchemaOrigin } from './structural-schema.ts';

type Components = Readonly<Record<string, OpenApiSchema>>;

const REF_PREFIX = '#/components/schemas/';
const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/**
 * The component schemas of Kubernetes 1.36 by name (`io.k8s.api.core.v1.Pod`), without descriptions. Read and parsed (3 ms)
 * when first asked for.
 */
export function builtinSchemas(): Components {
  return catalogue().components;
}

/** The schema of a built-in kind in one version; undefined for kinds that are not built in. Compiled once. */
export function schemaOfKind({ group, version, kind }: GroupVersionKind): StructuralSchema | undefined {
  const { byKind, origin } = catalogue();
  const name = byKind.get(`${group}/${version}/${kind}`);
  return name === undefined ? undefined : origin.named(name);
}

/** The schema of `ObjectMeta`, which every resource has. */
export function objectMetaSchema(): StructuralSchema {
  return catalogue().origin.objectMeta();
}

interface Catalogue {
  components: Components;
  /** Component names by `group/version/kind`. */
  byKind: ReadonlyMap<string, string>;
  origin: SchemaOrigin;
}

const catalogue = once(readCatalogue);

function readCatalogue(): Catalogue {
  const components = (kubernetesFacts() as { schemas: Components }).schemas;
  const byKind = new Map<string, string>();
  for (const [name, schema] of Object.entries(components)) {
    for (const { group, version, kind } of schema['x-kubernetes-group-version-kind'] ?? []) {
      byKind.set(`${group}/${version}/${kind}`, name);
    }
  }
  return { components, byKind, origin: builtinOrigin(components) };
}

function builtinOrigin(components: Components): SchemaOrigin {
  const compiled = new Map<string, StructuralSchema>();
  const origin: SchemaOrigin = {
    builtin: true,
    named(ref) {
      const name = ref.startsWith(REF_PREFIX) ? ref.slice(REF_PREFIX.length) : ref;
      let schema = compiled.get(name);
      if (!schema) {
        const source = components[name];
        if (!source) throw new Error(`no component schema ${name}`);
        schema = new StructuralSchema(source, origin, { component: name });
        compiled.set(name, schema);
      }
      return schema;
    },
    objectMeta: () => origin.named(OBJECT_META),
  };
  return origin;
}

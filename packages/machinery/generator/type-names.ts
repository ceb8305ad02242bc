import type { KubernetesFacts, Schema, ServedResource } from './kubernetes-facts.ts';
import { servedResources } from './kubernetes-facts.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.';

/** Written by hand in src/object.ts, more exactly than the schemas say. */
const BY_HAND = [
  'ObjectMeta',
  'ListMeta',
  'OwnerReference',
  'ManagedFieldsEntry',
  'FieldsV1',
  'Condition',
  'Status',
  'StatusCause',
  'StatusDetails',
  'WatchEvent',
];

/** Schemas that are one JSON value. JSONSchemaPropsOr… are bare in OpenAPI; their Go types say what they hold. */
const INLINE: Record<string, string> = {
  'io.k8s.apimachinery.pkg.api.resource.Quantity': 'string | number',
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': 'string | number',
  'io.k8s.apimachinery.pkg.runtime.RawExtension': 'Record<string, unknown>',
  [`${META}Time`]: 'string',
  [`${META}MicroTime`]: 'string',
  [`${META}Patch`]: 'Record<string, unknown>',
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON': 'unknown',
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray':
    'JSONSchemaProps | JSONSchemaProps[]',
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool': 'JSONSchemaProps | boolean',
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray': 'JSONSchemaProps | string[]',
};

export interface TypeName {
  /** Unique among all types of the package. */
  name: string;
  /** The generated module without its ending, e.g. `apps-v1`, or undefined where src/object.ts has it. */
  module: string | undefined;
}

export interface TypeNames {
  /** The TypeScript of a schema that has no type of its own. */
  inline(schemaName: string): string | undefined;
  /** Throws for a schema that the facts do not have. */
  of(schemaName: string): TypeName;
  /** The schemas that get a type, by module. */
  modules: Map<string, string[]>;
}

/**
 * Gives each schema a name that is unique in the package, so that all of them can be exported side by side.
 *
 * A name that several schemas share goes to the first of: kinds before parts, then the order of discovery. The others add
 * the API group, or the version where the group is the same: `EventEvents`, `HorizontalPodAutoscalerV1`.
 */
export function chooseTypeNames(facts: KubernetesFacts): TypeNames {
  const order = preference(facts);
  const chosen = new Map<string, TypeName>();
  const taken = new Map<string, string>();
  for (const schemaName of Object.keys(facts.schemas).sort((a, b) => order(a) - order(b) || (a < b ? -1 : 1))) {
    if (schemaName in INLINE || isList(schemaName, facts.schemas[schemaName])) continue;
    const { module, group, version, name } = split(schemaName);
    if (schemaName.startsWith(META) && BY_HAND.includes(name)) {
      chosen.set(schemaName, { name, module: undefined });
      continue;
    }
    const holder = taken.get(name);
    const suffix = holder === undefined ? '' : holder === group ? capitalized(version) : capitalized(group);
    if (holder === undefined) taken.set(name, group);
    chosen.set(schemaName, { name: name + suffix, module });
  }
  return {
    inline: (schemaName) => INLINE[schemaName],
    of(schemaName) {
      const found = chosen.get(schemaName);
      if (!found) throw new Error(`no type is generated for the schema ${schemaName}`);
      return found;
    },
    modules: byModule(chosen),
  };
}

function byModule(chosen: Map<string, TypeName>): Map<string, string[]> {
  const modules = new Map<string, string[]>();
  for (const [schemaName, { module }] of [...chosen].sort(([, a], [, b]) => (a.name < b.name ? -1 : 1))) {
    if (module === undefined) continue;
    const schemas = modules.get(module);
    if (schemas) schemas.push(schemaName);
    else modules.set(module, [schemaName]);
  }
  return new Map([...modules].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Kinds that are served come first, in the order of discovery; then parts, by the place of their group there. */
function preference(facts: KubernetesFacts): (schemaName: string) => number {
  const served = servedResources(facts);
  const rank = ({ group, version }: { group: string; version: string }, kind?: string) => {
    const at = served.findIndex((r) => sameVersion(r, group, version) && (kind === undefined || answers(r, kind)));
    return at < 0 ? served.length : at;
  };
  return (schemaName) => {
    const { group, version, name } = split(schemaName);
    const asKind = rank({ group, version }, name);
    return asKind < served.length ? asKind : served.length + rank({ group, version });
  };
}

function sameVersion(resource: ServedResource, group: string, version: string): boolean {
  const short = resource.group === '' ? 'core' : resource.group.split('.')[0];
  return short === group && resource.version === version;
}

function answers(resource: ServedResource, kind: string): boolean {
  return resource.responseKind.kind === kind;
}

/** `io.k8s.api.apps.v1.Deployment`: group `apps`, version `v1`. */
function split(schemaName: string): { module: string; group: string; version: string; name: string } {
  const [name = '', version = '', group = ''] = schemaName.split('.').reverse();
  return { module: `${group}-${version}`, group, version, name };
}

/** Lists are `KubeList<T>`. */
function isList(schemaName: string, schema: Schema | undefined): boolean {
  const isKind = schema?.['x-kubernetes-group-version-kind'] !== undefined;
  return isKind && schemaName.endsWith('List') && schema?.properties?.['items'] !== undefined;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

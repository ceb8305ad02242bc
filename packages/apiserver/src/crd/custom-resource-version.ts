import {
  cloneJson,
  applyDefaults,
  compileJsonPath,
  customResourceSchema,
  deepEqual,
  forbidden,
  type KubeObject,
  pruneUnknown,
  type StructuralSchema,
} from '@asterism/machinery';
import type { ServedSubresource } from '../registry/registry.ts';
import { type Conversion, ServedVersion } from '../registry/served-version.ts';
import type { Strategy } from '../registry/strategy.ts';
import type { CustomResourceDefinition, DefinitionNames, DefinitionVersion } from './custom-resource-definition.ts';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const PART_VERBS = ['get', 'patch', 'update'];

/**
 * All versions of an established definition, with the names that it was accepted under, and whether each is served.
 *
 * @param isTerminating asked at each create: nothing is created any more while the definition is being deleted.
 */
export function customResourceVersions(
  definition: CustomResourceDefinition,
  isTerminating: () => boolean,
): { version: ServedVersion; served: boolean }[] {
  const { group = '', scope, versions = [] } = definition.spec ?? {};
  const names = definition.status?.acceptedNames ?? {};
  const storage = versions.find((version) => version.storage)?.name ?? '';
  const context = { group, names, namespaced: scope === 'Namespaced', storage, isTerminating };
  return versions.map((version) => ({ version: servedVersion(version, context), served: version.served === true }));
}

interface DefinitionContext {
  group: string;
  names: DefinitionNames;
  namespaced: boolean;
  /** The name of the version in which objects are stored. */
  storage: string;
  isTerminating(): boolean;
}

function servedVersion(version: DefinitionVersion, context: DefinitionContext): ServedVersion {
  const { group, names, namespaced } = context;
  const { name = '', schema, subresources, additionalPrinterColumns, selectableFields } = version;
  const { plural = '', kind = '' } = names;
  const structural = once(() => (schema?.openAPIV3Schema ? customResourceSchema(schema.openAPIV3Schema) : undefined));
  return new ServedVersion({
    type: { group, version: name, resource: plural, kind, namespaced },
    singular: names.singular ?? kind.toLowerCase(),
    listKind: names.listKind,
    shortNames: names.shortNames,
    categories: names.categories,
    verbs: VERBS,
    subresources: subresourcesOf(version, context),
    storage: 'custom',
    conversion: sameSchemaConversion(`${group}/${name}`, `${group}/${context.storage}`, structural),
    strategy: customStrategy(version, context),
    schema: () => schema?.openAPIV3Schema,
    structural,
    printerColumns: additionalPrinterColumns,
    selectableFields: selectableFields?.map(({ jsonPath }) => jsonPath),
    scalePaths: subresources?.scale,
    warning: deprecation(version, context),
  });
}

/**
 * Conversion `None`: versions differ by their name alone. What is read was perhaps written under an earlier schema, and is
 * pruned and defaulted by today's, as upstream does when it decodes from etcd.
 */
function sameSchemaConversion(
  apiVersion: string,
  storedApiVersion: string,
  structural: () => StructuralSchema | undefined,
): Conversion {
  return {
    fromStorage(object) {
      const schema = structural();
      const draft = { ...cloneJson(object), apiVersion };
      if (schema) {
        pruneUnknown(draft, schema);
        applyDefaults(draft, schema);
      }
      return deepEqual(draft, object) ? object : draft;
    },
    toStorage: (object) => (apiVersion === storedApiVersion ? object : { ...object, apiVersion: storedApiVersion }),
  };
}

function subresourcesOf(
  { name = '', subresources = {} }: DefinitionVersion,
  { group, names }: DefinitionContext,
): ServedSubresource[] {
  const served: ServedSubresource[] = [];
  if (subresources.status)
    served.push({ name: 'status', group, version: name, kind: names.kind ?? '', verbs: PART_VERBS });
  if (subresources.scale)
    served.push({ name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: PART_VERBS });
  return served;
}

function customStrategy({ selectableFields = [] }: DefinitionVersion, context: DefinitionContext): Strategy {
  const fields: Record<string, (object: KubeObject) => string> = {};
  for (const { jsonPath } of selectableFields) {
    const read = compileJsonPath(jsonPath);
    fields[jsonPath.slice(1)] = (object) => {
      const [value] = read(object);
      return typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
    };
  }
  return {
    selectableFields: fields,
    prepareForCreate(draft) {
      if (!context.isTerminating()) return;
      const type = { group: context.group, resource: context.names.plural ?? '' };
      const why = 'create not allowed while custom resource definition is terminating';
      throw forbidden(type, draft.metadata.name ?? '', why);
    },
  };
}

function deprecation(
  { name, deprecated, deprecationWarning }: DefinitionVersion,
  { group, names }: DefinitionContext,
): string | undefined {
  if (!deprecated) return undefined;
  return deprecationWarning ?? `${group}/${name} ${names.kind} is deprecated`;
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

import {
  cloneJson,
  applyDefaults,
  customResourceSchema,
  deepEqual,
  pruneUnknown,
  type StructuralSchema,
} from '@asterism/machinery';
import { ServedVersion } from '../registry/served-version.ts';
import type { CustomResourceDefinition, DefinitionNames, DefinitionVersion } from './custom-resource-definition.ts';
import { customResourceStrategy } from './custom-resource-strategy.ts';
import { deprecationWarning } from './deprecation-warning.ts';
import type { ServedSubresource } from '../contract/served-resource.ts';
import type { Conversion } from '../contract/conversion.ts';

/** In the order of upstream's discovery of custom resources. */
const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
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
  const { group = '', scope } = definition.spec ?? {};
  const versions = definition.spec?.versions ?? [];
  const names = definition.status?.acceptedNames ?? {};
  const storage = versions.find((version) => version.storage)?.name ?? '';
  const structurals = new Map(
    versions.map(({ name = '', schema }) => [
      `${group}/${name}`,
      once(() => (schema?.openAPIV3Schema ? customResourceSchema(schema.openAPIV3Schema) : undefined)),
    ]),
  );
  const context = { group, names, namespaced: scope === 'Namespaced', storage, versions, structurals, isTerminating };
  return versions.map((version) => ({ version: servedVersion(version, context), served: version.served === true }));
}

interface DefinitionContext {
  group: string;
  names: DefinitionNames;
  namespaced: boolean;
  /** The name of the version in which objects are stored. */
  storage: string;
  versions: readonly DefinitionVersion[];
  /** The schema of each version, by its `apiVersion`. */
  structurals: ReadonlyMap<string, () => StructuralSchema | undefined>;
  isTerminating(): boolean;
}

function servedVersion(version: DefinitionVersion, context: DefinitionContext): ServedVersion {
  const { group, names, namespaced } = context;
  const { name = '', schema, subresources, additionalPrinterColumns, selectableFields } = version;
  const { plural = '', kind = '' } = names;
  const apiVersion = `${group}/${name}`;
  const structural = (): StructuralSchema | undefined => context.structurals.get(apiVersion)?.();
  return new ServedVersion({
    type: { group, version: name, resource: plural, kind, namespaced },
    singular: names.singular ?? kind.toLowerCase(),
    listKind: names.listKind,
    shortNames: names.shortNames,
    categories: names.categories,
    verbs: VERBS,
    subresources: subresourcesOf(version, context),
    storage: 'custom',
    conversion: nameConversion(apiVersion, `${group}/${context.storage}`, context.structurals),
    strategy: customResourceStrategy(version, { ...context, structural }),
    schema: () => schema?.openAPIV3Schema,
    structural,
    printerColumns: additionalPrinterColumns,
    selectableFields: selectableFields?.map(({ jsonPath }) => jsonPath),
    storageVersion: context.storage,
    scalePaths: subresources?.scale,
    warning: version.deprecated ? deprecationWarning(version, context) : undefined,
  });
}

/**
 * Conversion `None`: versions differ by their name alone. As upstream's codec for custom resources does it, what is read is pruned
 * and defaulted by the version that it was stored in, under today's schema of that; and what is converted, either way, is pruned
 * by the version that it becomes, but not defaulted.
 */
function nameConversion(
  apiVersion: string,
  storedApiVersion: string,
  structurals: DefinitionContext['structurals'],
): Conversion {
  const schemaOf = (version: string): StructuralSchema | undefined => structurals.get(version)?.();
  return {
    fromStorage(object) {
      const stored = object.apiVersion ?? storedApiVersion;
      const draft = { ...cloneJson(object), apiVersion };
      const written = structurals.has(stored) ? schemaOf(stored) : schemaOf(apiVersion);
      if (written) {
        pruneUnknown(draft, written);
        applyDefaults(draft, written);
      }
      const wanted = schemaOf(apiVersion);
      if (wanted && wanted !== written) pruneUnknown(draft, wanted);
      return deepEqual(draft, object) ? object : draft;
    },
    toStorage(object) {
      if (apiVersion === storedApiVersion) return object;
      const draft = { ...cloneJson(object), apiVersion: storedApiVersion };
      const schema = schemaOf(storedApiVersion);
      if (schema) pruneUnknown(draft, schema);
      return draft;
    },
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

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

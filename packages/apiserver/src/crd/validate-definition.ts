import {
  checkStructural,
  deepEqual,
  type FieldError,
  fieldInvalid,
  fieldInvalidJson,
  fieldNotSupported,
  fieldRequired,
  type OpenApiSchema,
} from '@asterism/machinery';
import { validateApproval } from './api-approval.ts';
import {
  type CustomResourceDefinition,
  type DefinitionVersion,
  isConditionTrue,
} from './custom-resource-definition.ts';
import { goVersions } from './go-versions.ts';
import { liftCommonParts, type VersionParts } from './lift-common-parts.ts';
import { schemasWithin } from './schemas-within.ts';
import { validateConversion } from './validate-conversion.ts';
import { invalidLabel, requireNames, validateGroup, validateNames } from './validate-definition-names.ts';
import {
  validateColumns,
  validateDeprecation,
  validateSelectableFields,
  validateSubresources,
} from './validate-definition-parts.ts';

/** The faults of a new definition, by the rules, in the words and in the order of apiextensions' validation. */
export function validateDefinition(definition: CustomResourceDefinition): FieldError[] {
  return [
    ...validateSpec(definition),
    ...validateDefinitionStatus(definition),
    ...validateStoredVersions(definition),
    ...validateApproval(definition),
    ...validatePreservation(definition),
  ];
}

/** The same for a changed one. Names and scope stay once it is established: clients have built on them. */
export function validateDefinitionUpdate(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition,
): FieldError[] {
  const now = definition.spec ?? {};
  const before = old.spec ?? {};
  const immutable = (field: string, value: unknown, oldValue: unknown): FieldError[] =>
    deepEqual(value, oldValue) ? [] : [fieldInvalid(field, value ?? '', 'field is immutable')];
  const established = isConditionTrue(old, 'Established')
    ? [
        ...immutable('spec.scope', now.scope, before.scope),
        ...immutable('spec.names.kind', now.names?.kind, before.names?.kind),
      ]
    : [];
  return [
    ...validateSpec(definition),
    ...established,
    ...immutable('spec.group', now.group, before.group),
    ...immutable('spec.names.plural', now.names?.plural, before.names?.plural),
    ...validateDefinitionStatus(definition),
    ...validateStoredVersions(definition),
    ...validateApproval(definition, old),
    ...(before.preserveUnknownFields ? [] : validatePreservation(definition)),
  ];
}

export function validateDefinitionStatus({ status }: CustomResourceDefinition): FieldError[] {
  return validateNames(status?.acceptedNames ?? {}, 'status.acceptedNames');
}

function validateSpec({ spec = {} }: CustomResourceDefinition): FieldError[] {
  const { group = '', scope = '', names = {}, conversion, preserveUnknownFields = false } = spec;
  const versions = spec.versions ?? [];
  const lifted = liftCommonParts(versions);
  const faults = [...validateGroup(group), ...validateScope(scope), ...requireSchemas(versions)];
  if (preserveUnknownFields && versions.some(({ schema }) => hasDefaults(schema?.openAPIV3Schema))) {
    const detail = 'must be false in order to use defaults in the schema';
    faults.push(fieldInvalid('spec.preserveUnknownFields', true, detail));
  }
  for (const [index, version] of lifted.versions.entries()) {
    const at = `spec.versions[${index}]`;
    const { schema, subresources } = versions[index] ?? {};
    faults.push(...invalidLabel(`${at}.name`, version.name ?? ''));
    faults.push(...validateDeprecation(version, `${at}.deprecationWarning`));
    faults.push(
      ...validateParts(version, { at, schemaAt: `${at}.schema`, status: subresources?.status !== undefined, schema }),
    );
  }
  faults.push(...validateVersionSet(versions, lifted.versions), ...requireNames(names));
  faults.push(...validateNames(names, 'spec.names'));
  const status = versions.some(({ subresources }) => subresources?.status !== undefined);
  faults.push(
    ...validateParts(lifted.common, { at: 'spec', schemaAt: 'spec.validation', status, schema: versions[0]?.schema }),
  );
  return conversion ? [...faults, ...validateConversion(conversion, preserveUnknownFields)] : faults;
}

function validateScope(scope: string): FieldError[] {
  if (scope === '') return [fieldRequired('spec.scope')];
  const scopes = ['Cluster', 'Namespaced'];
  return scopes.includes(scope) ? [] : [fieldNotSupported('spec.scope', scope, scopes)];
}

function requireSchemas(versions: readonly DefinitionVersion[]): FieldError[] {
  return versions.flatMap(({ schema }, index) =>
    schema?.openAPIV3Schema ? [] : [fieldRequired(`spec.versions[${index}].schema.openAPIV3Schema`)],
  );
}

function hasDefaults(schema: OpenApiSchema | undefined): boolean {
  return schemasWithin(schema).some((each) => (each.default ?? null) !== null);
}

interface PartsPlace {
  at: string;
  schemaAt: string;
  /** There is a status subresource, here or elsewhere. */
  status: boolean;
  /** The version's schema, here or elsewhere. */
  schema: VersionParts['schema'];
}

function validateParts(parts: VersionParts, { at, schemaAt, status, schema: all }: PartsPlace): FieldError[] {
  const { subresources = {}, additionalPrinterColumns = [], selectableFields = [] } = parts;
  const schema = parts.schema?.openAPIV3Schema;
  const path = `${schemaAt}.openAPIV3Schema`;
  return [
    ...(schema ? checkStructural(schema, { path, statusSubresource: status }) : []),
    ...validateSubresources(subresources, `${at}.subresources`),
    ...validateColumns(additionalPrinterColumns, `${at}.additionalPrinterColumns`),
    ...validateSelectableFields(selectableFields, all?.openAPIV3Schema, `${at}.selectableFields`),
  ];
}

function validateVersionSet(
  versions: readonly DefinitionVersion[],
  lifted: readonly DefinitionVersion[],
): FieldError[] {
  const faults: FieldError[] = [];
  const fail = (detail: string): void => {
    faults.push(fieldInvalidJson('spec.versions', goVersions(lifted), detail));
  };
  const names = versions.map(({ name = '' }) => name);
  if (new Set(names).size < names.length) fail('must contain unique version names');
  if (versions.filter(({ storage }) => storage).length !== 1) {
    fail('must have exactly one version marked as storage version');
  }
  // Upstream's internal type repeats the first version's name.
  return names[0] ? [...faults, ...invalidLabel('spec.version', names[0])] : faults;
}

function validateStoredVersions({ spec, status }: CustomResourceDefinition): FieldError[] {
  const stored = status?.storedVersions ?? [];
  const field = 'status.storedVersions';
  if (stored.length === 0) return [fieldInvalid(field, null, 'must have at least one stored version')];
  const faults: FieldError[] = [];
  const missing = new Set(stored);
  for (const { name = '', storage } of spec?.versions ?? []) {
    // Upstream forgets a name that it has seen, so that a second version of that name is missing.
    if (storage && !missing.has(name)) {
      faults.push(fieldInvalid(field, stored, `must have the storage version ${name}`));
    }
    missing.delete(name);
  }
  for (const name of missing) {
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    faults.push(fieldInvalid(`${field}[${stored.lastIndexOf(name)}]`, name, detail));
  }
  return faults;
}

function validatePreservation({ spec }: CustomResourceDefinition): FieldError[] {
  if (!spec?.preserveUnknownFields) return [];
  const detail =
    'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
  return [fieldInvalid('spec.preserveUnknownFields', true, detail)];
}

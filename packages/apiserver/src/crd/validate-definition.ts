import {
  checkStructural,
  deepEqual,
  type FieldError,
  validateDns1035Label,
  validateDns1123Subdomain,
} from '@asterism/machinery';
import { invalidValue, notSupported, required } from '../registry/strategy.ts';
import {
  type CustomResourceDefinition,
  type DefinitionVersion,
  isConditionTrue,
} from './custom-resource-definition.ts';
import { validateColumns, validateSelectableFields, validateSubresources } from './validate-definition-parts.ts';

/** The faults of a definition, by the rules and in the words of apiextensions' validation. */
export function validateDefinition(definition: CustomResourceDefinition): FieldError[] {
  const { group = '', scope = '' } = definition.spec ?? {};
  const errors: FieldError[] = [];
  errors.push(...validateGroup(definition, group), ...validateScope(scope), ...validateNames(definition));
  errors.push(...validateVersions(definition.spec?.versions ?? []), ...validateConversion(definition));
  errors.push(...validateStoredVersions(definition));
  if (definition.spec?.preserveUnknownFields) {
    const detail =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
    errors.push(invalidValue('spec.preserveUnknownFields', true, detail));
  }
  return errors;
}

/** The name of a definition says which resource it defines. */
export function validateDefinitionName({ metadata, spec }: CustomResourceDefinition): FieldError[] {
  const { name = '' } = metadata ?? {};
  if (name === `${spec?.names?.plural ?? ''}.${spec?.group ?? ''}`) return [];
  return [invalidValue('metadata.name', name, 'must be spec.names.plural+"."+spec.group')];
}

/** Names and scope stay once the definition is established: clients have built on them. */
export function validateDefinitionUpdate(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition,
): FieldError[] {
  const now = definition.spec ?? {};
  const before = old.spec ?? {};
  const errors: FieldError[] = [];
  const immutable = (field: string, value: unknown, oldValue: unknown): void => {
    if (value !== oldValue) errors.push(invalidValue(field, value ?? '', 'field is immutable'));
  };
  if (isConditionTrue(old, 'Established')) {
    immutable('spec.scope', now.scope, before.scope);
    immutable('spec.names.kind', now.names?.kind, before.names?.kind);
  }
  immutable('spec.group', now.group, before.group);
  immutable('spec.names.plural', now.names?.plural, before.names?.plural);
  return errors;
}

function validateGroup({ metadata }: CustomResourceDefinition, group: string): FieldError[] {
  if (group === '') return [required('spec.group')];
  const errors = validateDns1123Subdomain(group).map((fault) => invalidValue('spec.group', group, fault));
  if (errors.length === 0 && !group.includes('.'))
    errors.push(invalidValue('spec.group', group, 'should be a domain with at least one dot'));
  const isProtected = group === 'k8s.io' || /\.(k8s|kubernetes)\.io$/.test(group);
  if (isProtected && !metadata?.annotations?.[APPROVAL]) {
    const detail = `protected groups must have approval annotation "${APPROVAL}", see https://github.com/kubernetes/enhancements/pull/1111`;
    errors.push(required(`metadata.annotations[${APPROVAL}]`, detail));
  }
  return errors;
}

const APPROVAL = 'api-approved.kubernetes.io';

function validateScope(scope: string): FieldError[] {
  if (scope === '') return [required('spec.scope')];
  const scopes = ['Cluster', 'Namespaced'];
  return scopes.includes(scope) ? [] : [notSupported('spec.scope', scope, scopes)];
}

function validateNames({ spec }: CustomResourceDefinition): FieldError[] {
  const { plural = '', singular = '', kind = '', listKind = '', shortNames = [], categories = [] } = spec?.names ?? {};
  const at = 'spec.names';
  const label = (field: string, value: string): FieldError[] =>
    value === '' ? [required(field)] : validateDns1035Label(value).map((fault) => invalidValue(field, value, fault));
  const mixedCase = (field: string, value: string): FieldError[] =>
    value === ''
      ? [required(field)]
      : validateDns1035Label(value.toLowerCase()).map((fault) =>
          invalidValue(field, value, `may have mixed case, but should otherwise match: ${fault}`),
        );
  const errors = [
    ...label(`${at}.plural`, plural),
    ...label(`${at}.singular`, singular),
    ...mixedCase(`${at}.kind`, kind),
    ...mixedCase(`${at}.listKind`, listKind),
    ...shortNames.flatMap((each, index) => label(`${at}.shortNames[${index}]`, each)),
    ...categories.flatMap((each, index) => label(`${at}.categories[${index}]`, each)),
  ];
  if (kind !== '' && kind === listKind) {
    errors.push(invalidValue(`${at}.listKind`, listKind, 'kind and listKind may not be the same'));
  }
  return errors;
}

function validateVersions(versions: readonly DefinitionVersion[]): FieldError[] {
  const errors: FieldError[] = [];
  const names = versions.map(({ name = '' }) => name);
  const shown = versions.map(goVersion);
  if (new Set(names).size < names.length) {
    errors.push(invalidValue('spec.versions', shown, 'must contain unique version names'));
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    errors.push(invalidValue('spec.versions', shown, 'must have exactly one version marked as storage version'));
  }
  for (const [index, { name = '' }] of versions.entries()) {
    const field = `spec.versions[${index}].name`;
    if (name === '') errors.push(required(field));
    else errors.push(...validateDns1035Label(name).map((fault) => invalidValue(field, name, fault)));
  }
  const placed = pathsOf(versions);
  for (const [index, version] of versions.entries()) {
    if (version.schema?.openAPIV3Schema === undefined || Object.keys(version.schema.openAPIV3Schema).length === 0) {
      errors.push(required(`spec.versions[${index}].schema.openAPIV3Schema`));
    }
  }
  return errors.length > 0 ? errors : placed.flatMap(({ version, ...paths }) => validateVersion(version, paths));
}

interface VersionPaths {
  schema: string;
  rest: string;
}

/** Upstream lifts what all versions have in common out of them, and so names it without a version. */
function pathsOf(versions: readonly DefinitionVersion[]): ({ version: DefinitionVersion } & VersionPaths)[] {
  const [first] = versions;
  if (first && versions.every((each) => deepEqual({ ...each, ...SAME }, { ...first, ...SAME }))) {
    return [{ version: first, schema: 'spec.validation.openAPIV3Schema', rest: 'spec' }];
  }
  return versions.map((version, index) => ({
    version,
    schema: `spec.versions[${index}].schema.openAPIV3Schema`,
    rest: `spec.versions[${index}]`,
  }));
}

const SAME = { name: '', served: true, storage: true, deprecated: false, deprecationWarning: '' };

function validateVersion(version: DefinitionVersion, paths: VersionPaths): FieldError[] {
  const { schema, subresources = {}, additionalPrinterColumns = [], selectableFields = [] } = version;
  const openApi = schema?.openAPIV3Schema ?? {};
  return [
    ...checkStructural(openApi, { path: paths.schema, statusSubresource: subresources.status !== undefined }),
    ...validateSubresources(subresources, `${paths.rest}.subresources`),
    ...validateColumns(additionalPrinterColumns, `${paths.rest}.additionalPrinterColumns`),
    ...validateSelectableFields(selectableFields, openApi, `${paths.rest}.selectableFields`),
  ];
}

function validateConversion({ spec }: CustomResourceDefinition): FieldError[] {
  const { strategy = 'None', webhook, webhookClientConfig } = spec?.conversion ?? {};
  if (strategy !== 'None' && strategy !== 'Webhook') {
    return [notSupported('spec.conversion.strategy', strategy, ['None', 'Webhook'])];
  }
  const hook = webhook ?? webhookClientConfig;
  if (strategy === 'Webhook' && hook === undefined) {
    return [required('spec.conversion.webhookClientConfig', 'required when strategy is set to Webhook')];
  }
  if (strategy === 'None' && hook !== undefined) {
    const message = 'Forbidden: should not be set when strategy is not set to Webhook';
    return [{ type: 'FieldValueForbidden', field: 'spec.conversion.webhookClientConfig', message }];
  }
  return [];
}

function validateStoredVersions({ spec, status }: CustomResourceDefinition): FieldError[] {
  const stored = status?.storedVersions ?? [];
  const field = 'status.storedVersions';
  if (stored.length === 0) return [invalidValue(field, null, 'must have at least one stored version')];
  const versions = spec?.versions ?? [];
  const errors: FieldError[] = [];
  for (const [index, name] of stored.entries()) {
    if (versions.some((each) => each.name === name)) continue;
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    errors.push(invalidValue(`${field}[${index}]`, name, detail));
  }
  const storage = versions.filter((each) => each.storage).at(-1)?.name;
  if (storage !== undefined && !stored.includes(storage)) {
    errors.push(invalidValue(field, stored, `must have the storage version ${storage}`));
  }
  return errors;
}

/** A version as Go prints it within a message. */
function goVersion({ name, served, storage, deprecated, deprecationWarning }: DefinitionVersion): object {
  return {
    Name: name ?? '',
    Served: served ?? false,
    Storage: storage ?? false,
    Deprecated: deprecated ?? false,
    DeprecationWarning: deprecationWarning ?? null,
    Schema: null,
    Subresources: null,
    AdditionalPrinterColumns: null,
    SelectableFields: null,
  };
}

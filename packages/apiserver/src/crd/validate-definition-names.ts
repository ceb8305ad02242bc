import {
  type FieldError,
  fieldInvalid,
  fieldRequired,
  validateDns1035Label,
  validateDns1123Subdomain,
} from '@asterism/machinery';
import type { CustomResourceDefinition, DefinitionNames } from './custom-resource-definition.ts';

const NAMES = 'spec.names';

/** The names that a definition must give. */
export function requireNames(names: DefinitionNames): FieldError[] {
  const fields = ['plural', 'singular', 'kind', 'listKind'] as const;
  return fields.filter((field) => !names[field]).map((field) => fieldRequired(`${NAMES}.${field}`));
}

/** Faults of the names that are given: of the spec, and of those that were accepted. */
export function validateNames(names: DefinitionNames, at: string): FieldError[] {
  const { plural, singular, kind, listKind, shortNames = [], categories = [] } = names;
  const faults = [
    ...label(`${at}.plural`, plural),
    ...label(`${at}.singular`, singular),
    ...mixedCase(`${at}.kind`, kind),
    ...mixedCase(`${at}.listKind`, listKind),
    ...shortNames.flatMap((each, index) => invalidLabel(`${at}.shortNames[${index}]`, each)),
  ];
  if (kind && kind === listKind) {
    faults.push(fieldInvalid(`${at}.listKind`, listKind, 'kind and listKind may not be the same'));
  }
  return [...faults, ...categories.flatMap((each, index) => invalidLabel(`${at}.categories[${index}]`, each))];
}

function label(field: string, value: string | undefined): FieldError[] {
  return value ? invalidLabel(field, value) : [];
}

/** All faults of a name stand in one message. */
export function invalidLabel(field: string, value: string): FieldError[] {
  const faults = validateDns1035Label(value);
  return faults.length > 0 ? [fieldInvalid(field, value, faults.join(','))] : [];
}

function mixedCase(field: string, value: string | undefined): FieldError[] {
  const faults = value ? validateDns1035Label(value.toLowerCase()) : [];
  if (faults.length === 0) return [];
  return [fieldInvalid(field, value, `may have mixed case, but should otherwise match: ${faults.join(',')}`)];
}

/** The name of a definition says which resource it defines. */
export function validateDefinitionName({ metadata, spec }: CustomResourceDefinition): FieldError[] {
  const { name = '' } = metadata ?? {};
  if (name === `${spec?.names?.plural ?? ''}.${spec?.group ?? ''}`) return [];
  return [fieldInvalid('metadata.name', name, 'must be spec.names.plural+"."+spec.group')];
}

export function validateGroup(group: string): FieldError[] {
  if (group === '') return [fieldRequired('spec.group')];
  const faults = validateDns1123Subdomain(group);
  if (faults.length > 0) return [fieldInvalid('spec.group', group, faults.join(','))];
  return group.includes('.') ? [] : [fieldInvalid('spec.group', group, 'should be a domain with at least one dot')];
}

import { type FieldError, fieldInvalid, fieldNotSupported, fieldRequired, isJsonObject } from '@asterism/machinery';
import { AUDIT_LEVELS, AUDIT_STAGES } from './audit-policy.ts';

const API_VERSION = 'audit.k8s.io/v1';
/** A DNS subdomain, as the names of API groups are. */
const GROUP = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

type Type = 'string' | 'strings' | 'boolean' | 'objects' | 'object';

const POLICY_FIELDS: Readonly<Record<string, Type>> = {
  apiVersion: 'string',
  kind: 'string',
  metadata: 'object',
  rules: 'objects',
  omitStages: 'strings',
  omitManagedFields: 'boolean',
};
const RULE_FIELDS: Readonly<Record<string, Type>> = {
  level: 'string',
  users: 'strings',
  userGroups: 'strings',
  verbs: 'strings',
  resources: 'objects',
  namespaces: 'strings',
  nonResourceURLs: 'strings',
  omitStages: 'strings',
  omitManagedFields: 'boolean',
};
const RESOURCES_FIELDS: Readonly<Record<string, Type>> = {
  group: 'string',
  resources: 'strings',
  resourceNames: 'strings',
};

type Fields = Record<string, unknown>;

/** What is wrong with a policy: first what has no meaning at all (unknown fields, wrong types), else what upstream's validation says. */
export function checkPolicy(policy: Fields): string[] {
  const shape = [...checkFields(policy, POLICY_FIELDS, ''), ...shapeOfRules(policy)];
  if (shape.length > 0) return shape;
  const { apiVersion, kind, rules } = policy;
  if (apiVersion !== API_VERSION || kind !== 'Policy') {
    return [`it is ${describeKind(policy)}: it must have apiVersion ${API_VERSION} and kind Policy`];
  }
  const found = listOf(rules);
  if (found.length === 0) return ['loaded illegal policy with 0 rules'];
  const faults = [
    ...found.flatMap((rule, index) => checkRule(rule, `rules[${index}]`)),
    ...checkStages(policy.omitStages, 'omitStages'),
  ];
  return faults.map(({ field, message }) => `${field}: ${message}`);
}

function describeKind({ apiVersion, kind }: Fields): string {
  if (apiVersion === undefined && kind === undefined) return 'of no kind';
  return `${JSON.stringify(kind ?? '')} of ${JSON.stringify(apiVersion ?? '')}`;
}

function shapeOfRules({ rules }: Fields): string[] {
  return listOf(rules).flatMap((rule, index) => {
    const at = `rules[${index}]`;
    const resources = listOf(rule.resources).flatMap((each, number) =>
      checkFields(each, RESOURCES_FIELDS, `${at}.resources[${number}]`),
    );
    return [...checkFields(rule, RULE_FIELDS, at), ...resources];
  });
}

function checkFields(object: Fields, known: Readonly<Record<string, Type>>, at: string): string[] {
  return Object.entries(object).flatMap(([name, value]) => {
    const path = at === '' ? name : `${at}.${name}`;
    const type = Object.hasOwn(known, name) ? known[name]! : undefined;
    if (type === undefined) return [`unknown field ${JSON.stringify(path)}`];
    if (value === null || value === undefined || isOfType(value, type)) return [];
    return [`${path}: must be ${TYPE_NAMES[type]}`];
  });
}

const TYPE_NAMES: Readonly<Record<Type, string>> = {
  string: 'a string',
  strings: 'a list of strings',
  boolean: 'true or false',
  object: 'an object',
  objects: 'a list of objects',
};

function isOfType(value: unknown, type: Type): boolean {
  switch (type) {
    case 'strings':
      return Array.isArray(value) && value.every((each) => typeof each === 'string');
    case 'objects':
      return Array.isArray(value) && value.every(isJsonObject);
    case 'object':
      return isJsonObject(value);
    default:
      return typeof value === type;
  }
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? (value as string[]) : [];
}

function checkRule(rule: Fields, at: string): FieldError[] {
  const urls = stringsOf(rule.nonResourceURLs);
  const resources = listOf(rule.resources);
  const mixed = urls.length > 0 && (resources.length > 0 || stringsOf(rule.namespaces).length > 0);
  const why = 'rules cannot apply to both regular resources and non-resource URLs';
  return [
    ...checkLevel(rule.level, `${at}.level`),
    ...urls.flatMap((url, index) => checkUrl(url, `${at}.nonResourceURLs[${index}]`)),
    ...resources.flatMap((each) => checkResources(each, `${at}.resources`)),
    ...checkStages(rule.omitStages, `${at}.omitStages`),
    ...(mixed ? [fieldInvalid(`${at}.nonResourceURLs`, urls, why)] : []),
  ];
}

function checkLevel(level: unknown, at: string): FieldError[] {
  if (level === undefined || level === null || level === '') return [fieldRequired(at, '')];
  return AUDIT_LEVELS.some((known) => known === level) ? [] : [fieldNotSupported(at, level, AUDIT_LEVELS)];
}

function checkUrl(url: string, at: string): FieldError[] {
  if (url === '*') return [];
  const faults: FieldError[] = [];
  if (!url.startsWith('/'))
    faults.push(fieldInvalid(at, url, "non-resource URL rules must begin with a '/' character"));
  if (url.slice(0, -1).includes('*')) {
    faults.push(fieldInvalid(at, url, "non-resource URL wildcards '*' must be the final character of the rule"));
  }
  return faults;
}

function checkResources({ group, resources, resourceNames }: Fields, at: string): FieldError[] {
  const faults: FieldError[] = [];
  if (typeof group === 'string' && group !== '' && (group.length > 253 || !GROUP.test(group))) {
    faults.push(fieldInvalid(`${at}.group`, group, 'must be the name of an API group without its version'));
  }
  const names = stringsOf(resourceNames);
  if (names.length > 0 && stringsOf(resources).length === 0) {
    faults.push(fieldInvalid(`${at}.resourceNames`, names, 'using resourceNames requires at least one resource'));
  }
  return faults;
}

function checkStages(stages: unknown, at: string): FieldError[] {
  return stringsOf(stages).flatMap((stage, index) =>
    AUDIT_STAGES.some((known) => known === stage)
      ? []
      : [fieldInvalid(`${at}[${index}]`, stage, `allowed stages are ${AUDIT_STAGES.join(',')}`)],
  );
}

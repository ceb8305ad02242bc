import {
  type FieldError,
  fieldForbidden,
  fieldNotSupported,
  fieldRequired,
  type KubeObject,
  validateDns1123Label,
  validateDns1123Subdomain,
} from '@asterism/machinery';
import { type Fields, listAt, numberAt, optionalFields, textAt, textsAt } from '../fields/draft-fields.ts';
import { invalidValues } from '../validation/name-formats.ts';
import { invalidValue } from '../../registry/invalid-value.ts';

const MAX_PRECEDENCE = 10_000;
const METHODS = ['ByNamespace', 'ByUser'];
const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

/** Kinds of subjects, and the field that describes each. */
const SUBJECTS = { Group: 'group', ServiceAccount: 'serviceAccount', User: 'user' } as const;

export function validateSpec(object: KubeObject): FieldError[] {
  const spec = optionalFields(object, 'spec') ?? {};
  const faults = validatePrecedence(numberAt(spec, 'matchingPrecedence') ?? 0, object.metadata?.name ?? '');
  const method = optionalFields(spec, 'distinguisherMethod');
  if (method && !METHODS.includes(textAt(method, 'type')))
    faults.push(fieldNotSupported('spec.distinguisherMethod.type', { Type: textAt(method, 'type') }, METHODS));
  const level = textAt(optionalFields(spec, 'priorityLevelConfiguration'), 'name');
  const at = 'spec.priorityLevelConfiguration.name';
  if (level === '') faults.push(fieldRequired(at, 'must reference a priority level'));
  else faults.push(...invalidValues(at, level, validateDns1123Subdomain(level)));
  return [...faults, ...listAt(spec, 'rules').flatMap((rule, index) => validateRule(rule, `spec.rules[${index}]`))];
}

function validatePrecedence(precedence: number, name: string): FieldError[] {
  const fault = (detail: string): FieldError => invalidValue('spec.matchingPrecedence', precedence, detail);
  const faults: FieldError[] = [];
  if (precedence <= 0) faults.push(fault('must be a positive value'));
  if (precedence > MAX_PRECEDENCE) faults.push(fault(`must not be greater than ${MAX_PRECEDENCE}`));
  if (precedence === 1 && name !== 'exempt')
    faults.push(fault("only the schema named 'exempt' may have matchingPrecedence 1"));
  return faults;
}

function validateRule(rule: Fields, at: string): FieldError[] {
  const subjects = listAt(rule, 'subjects');
  const resourceRules = listAt(rule, 'resourceRules');
  const otherRules = listAt(rule, 'nonResourceRules');
  const faults: FieldError[] = [];
  if (subjects.length === 0) faults.push(fieldRequired(`${at}.subjects`, 'subjects must contain at least one value'));
  faults.push(...subjects.flatMap((subject, index) => validateSubject(subject, `${at}.subjects[${index}]`)));
  if (resourceRules.length + otherRules.length === 0)
    faults.push(fieldRequired(at, 'at least one of resourceRules and nonResourceRules has to be non-empty'));
  return [
    ...faults,
    ...resourceRules.flatMap((each, index) => validateResourceRule(each, `${at}.resourceRules[${index}]`)),
    ...otherRules.flatMap((each, index) => validateOtherRule(each, `${at}.nonResourceRules[${index}]`)),
  ];
}

function validateSubject(subject: Fields, at: string): FieldError[] {
  const kind = textAt(subject, 'kind');
  const own = SUBJECTS[kind as keyof typeof SUBJECTS];
  if (!own) return [fieldNotSupported(`${at}.kind`, kind, Object.keys(SUBJECTS))];
  const description = optionalFields(subject, own);
  const faults = description
    ? validateDescription(description, own, `${at}.${own}`)
    : [fieldRequired(`${at}.${own}`, `${own} is required when subject kind is '${kind}'`)];
  for (const other of ['serviceAccount', 'user', 'group'] as const) {
    if (other === own || subject[other] === undefined) continue;
    const name = Object.entries(SUBJECTS).find(([, key]) => key === other)?.[0] ?? '';
    faults.push(fieldForbidden(`${at}.${other}`, `${other} is forbidden when subject kind is not '${name}'`));
  }
  return faults;
}

function validateDescription(description: Fields, kind: string, at: string): FieldError[] {
  const name = textAt(description, 'name');
  const faults = name === '' ? [fieldRequired(`${at}.name`)] : [];
  if (kind !== 'serviceAccount') return faults;
  const namespace = textAt(description, 'namespace');
  if (name !== '' && name !== '*') faults.push(...invalidValues(`${at}.name`, name, validateDns1123Subdomain(name)));
  if (namespace === '')
    return [...faults, fieldRequired(`${at}.namespace`, 'must specify namespace for service account')];
  return [...faults, ...invalidValues(`${at}.namespace`, namespace, validateDns1123Label(namespace))];
}

function validateVerbs(rule: Fields, at: string): FieldError[] {
  const verbs = textsAt(rule, 'verbs');
  if (verbs.length === 0) return [fieldRequired(`${at}.verbs`, 'verbs must contain at least one value')];
  if (verbs.includes('*'))
    return verbs.length > 1
      ? [invalidValue(`${at}.verbs`, verbs, "if '*' is present, must not specify other verbs")]
      : [];
  return verbs.every((verb) => VERBS.includes(verb)) ? [] : [fieldNotSupported(`${at}.verbs`, verbs, VERBS)];
}

function validateResourceRule(rule: Fields, at: string): FieldError[] {
  const faults = validateVerbs(rule, at);
  const lists = { apiGroups: ['api group', 'api groups'], resources: ['resource', 'resources'] } as const;
  for (const [key, [one, many]] of Object.entries(lists)) {
    const values = textsAt(rule, key);
    if (values.length === 0)
      faults.push(fieldRequired(`${at}.${key}`, `resource rules must supply at least one ${one}`));
    else if (values.length > 1 && values.includes('*'))
      faults.push(invalidValue(`${at}.${key}`, values, `if '*' is present, must not specify other ${many}`));
  }
  const namespaces = textsAt(rule, 'namespaces');
  const within = `${at}.namespaces`;
  if (namespaces.length === 0 && rule.clusterScope !== true) {
    const detail = 'resource rules that are not cluster scoped must supply at least one namespace';
    return [...faults, fieldRequired(within, detail)];
  }
  if (namespaces.includes('*')) {
    if (namespaces.length === 1) return faults;
    return [...faults, invalidValue(within, namespaces, "if '*' is present, must not specify other namespaces")];
  }
  const intro = "each member of this list must be '*' or a DNS-1123 label; ";
  for (const [index, namespace] of namespaces.entries()) {
    const labelFaults = validateDns1123Label(namespace).map((fault) => intro + fault);
    faults.push(...invalidValues(`${within}[${index}]`, namespace, labelFaults));
  }
  return faults;
}

function validateOtherRule(rule: Fields, at: string): FieldError[] {
  const faults = validateVerbs(rule, at);
  const urls = textsAt(rule, 'nonResourceURLs');
  const within = `${at}.nonResourceURLs`;
  if (urls.length === 0) return [...faults, fieldRequired(within, 'nonResourceURLs must contain at least one value')];
  if (urls.includes('*')) {
    if (urls.length === 1) return faults;
    return [...faults, invalidValue(within, urls, "if '*' is present, must not specify other non-resource URLs")];
  }
  for (const [index, url] of urls.entries()) {
    const fault = urlFault(url);
    if (fault) faults.push(invalidValue(`${within}[${index}]`, url, fault));
  }
  return faults;
}

function urlFault(url: string): string | undefined {
  if (url === '') return 'must not be empty';
  if (url === '/') return undefined;
  if (!url.startsWith('/')) return 'must start with slash';
  if (url.includes(' ')) return 'must not contain white-space';
  if (url.includes('//')) return 'must not contain double slash';
  const wildcards = url.split('*').length - 1;
  return wildcards > 1 || (wildcards === 1 && !url.endsWith('/*')) ? 'wildcard can only do suffix matching' : undefined;
}

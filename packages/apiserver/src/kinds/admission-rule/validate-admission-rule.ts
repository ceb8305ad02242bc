import {
  type FieldError,
  fieldForbidden,
  fieldNotSupported,
  fieldRequired,
  seenBefore,
  validatePathSegmentName,
} from '@asterism/machinery';
import { type Fields, listAt, optionalFields, textAt, textsAt } from '../fields/draft-fields.ts';
import { labelSelectorFaults } from '../validation/validate-label-selector.ts';
import { duplicateValue, invalidValue } from '../../registry/invalid-value.ts';

export const MATCH_POLICIES = ['Equivalent', 'Exact'];
const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const SCOPES = ['*', 'Cluster', 'Namespaced'];

/** Of `matchConstraints` of policies and `matchResources` of their bindings. */
export function validateMatchResources(match: Fields, at: string): FieldError[] {
  const policy = match.matchPolicy;
  const faults: FieldError[] = [];
  if (typeof policy !== 'string') faults.push(fieldRequired(`${at}.matchPolicy`));
  else if (!MATCH_POLICIES.includes(policy))
    faults.push(fieldNotSupported(`${at}.matchPolicy`, policy, MATCH_POLICIES));
  for (const key of ['namespaceSelector', 'objectSelector']) {
    const selector = optionalFields(match, key);
    faults.push(...(selector ? labelSelectorFaults(selector, `${at}.${key}`) : [fieldRequired(`${at}.${key}`)]));
  }
  for (const key of ['resourceRules', 'excludeResourceRules'])
    faults.push(...listAt(match, key).flatMap((rule, index) => validateNamedRule(rule, `${at}.${key}[${index}]`)));
  return faults;
}

function validateNamedRule(rule: Fields, at: string): FieldError[] {
  const names = textsAt(rule, 'resourceNames');
  const isRepeated = seenBefore<string>();
  const faults = names.flatMap((name, index) => {
    const place = `${at}.resourceNames[${index}]`;
    const ofName = validatePathSegmentName(name).map((fault) => invalidValue(place, name, fault));
    return isRepeated(name) ? [...ofName, duplicateValue(place, name)] : ofName;
  });
  return [...faults, ...validateRule(rule, at)];
}

/** Which operations on which resources a webhook or a policy is asked about. */
export function validateRule(rule: Fields, at: string): FieldError[] {
  const operations = textsAt(rule, 'operations');
  const faults: FieldError[] = [];
  if (operations.length === 0) faults.push(fieldRequired(`${at}.operations`));
  faults.push(...validateLoneWildcard(operations, `${at}.operations`, 'operations'));
  for (const [index, operation] of operations.entries())
    if (!OPERATIONS.includes(operation))
      faults.push(fieldNotSupported(`${at}.operations[${index}]`, operation, OPERATIONS));
  const groups = textsAt(rule, 'apiGroups');
  if (groups.length === 0) faults.push(fieldRequired(`${at}.apiGroups`));
  faults.push(...validateLoneWildcard(groups, `${at}.apiGroups`, 'API groups'));
  const versions = textsAt(rule, 'apiVersions');
  if (versions.length === 0) faults.push(fieldRequired(`${at}.apiVersions`));
  faults.push(...validateLoneWildcard(versions, `${at}.apiVersions`, 'API versions'));
  for (const [index, version] of versions.entries())
    if (version === '') faults.push(fieldRequired(`${at}.apiVersions[${index}]`));
  faults.push(...validateResources(textsAt(rule, 'resources'), `${at}.resources`));
  const { scope } = rule;
  if (typeof scope === 'string' && !SCOPES.includes(scope))
    faults.push(fieldNotSupported(`${at}.scope`, scope, SCOPES));
  return faults;
}

function validateLoneWildcard(values: readonly string[], at: string, what: string): FieldError[] {
  if (values.length < 2 || !values.includes('*')) return [];
  return [invalidValue(at, values, `if '*' is present, must not specify other ${what}`)];
}

function validateResources(resources: readonly string[], at: string): FieldError[] {
  const faults = resources.length === 0 ? [fieldRequired(at)] : [];
  const wholeResources = new Set<string>();
  const wholeSubresources = new Set<string>();
  let plain = false;
  for (const [index, resource] of resources.entries()) {
    const slash = resource.indexOf('/');
    if (resource === '') faults.push(fieldRequired(`${at}[${index}]`));
    else if (slash < 0) plain = resource !== '*';
    else {
      const name = resource.slice(0, slash);
      const subresource = resource.slice(slash + 1);
      const fault = (present: string): FieldError =>
        invalidValue(`${at}[${index}]`, resource, `if '${present}' is present, must not specify ${resource}`);
      if (wholeResources.has(name)) faults.push(fault(`${name}/*`));
      if (wholeSubresources.has(subresource)) faults.push(fault(`*/${subresource}`));
      if (subresource === '*') wholeResources.add(name);
      if (name === '*') wholeSubresources.add(subresource);
    }
  }
  if (resources.length > 1 && resources.includes('*/*'))
    faults.push(invalidValue(at, resources, "if '*/*' is present, must not specify other resources"));
  if (resources.includes('*') && plain) {
    const detail = "if '*' is present, must not specify other resources without subresources";
    faults.push(invalidValue(at, resources, detail));
  }
  return faults;
}

/** The faults of `paramRef` of a binding. */
export function validateParamRef(ref: Fields, at: string): FieldError[] {
  const name = textAt(ref, 'name');
  const selector = optionalFields(ref, 'selector');
  const exclusive = 'name and selector are mutually exclusive';
  const faults =
    name === '' ? [] : validatePathSegmentName(name).map((fault) => invalidValue(`${at}.name`, name, fault));
  const both = name !== '' && selector !== undefined;
  if (both) faults.push(fieldForbidden(`${at}.name`, exclusive));
  faults.push(...labelSelectorFaults(selector, `${at}.selector`));
  if (both) faults.push(fieldForbidden(`${at}.selector`, exclusive));
  if (name === '' && !selector) faults.push(fieldRequired(at, 'one of name or selector must be specified'));
  const action = textAt(ref, 'parameterNotFoundAction');
  if (action === '') faults.push(fieldRequired(`${at}.parameterNotFoundAction`));
  else if (action !== 'Deny' && action !== 'Allow')
    faults.push(fieldNotSupported(`${at}.parameterNotFoundAction`, action, ['Deny', 'Allow']));
  return faults;
}

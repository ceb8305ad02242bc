import { type FieldError, fieldRequired, type KubeObject } from '@asterism/machinery';
import { type Fields, listAt, optionalFields, textAt, textsAt } from '../fields/draft-fields.ts';
import { Faults } from '../validation/faults.ts';
import { FieldPath } from '../validation/field-path.ts';
import { validateQuantity } from '../pod-spec/validate-resources.ts';
import { validateResourceName, isHugePages } from '../pod-spec/resource-names.ts';
import { invalidValue } from '../../registry/invalid-value.ts';

/** Resources without a domain that a quota can bound. */
const OF_QUOTAS = new Set([
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'persistentvolumeclaims',
  'configmaps',
  'services.nodeports',
  'services.loadbalancers',
]);

/** What pods use, and so what scopes of pods can bound. */
const OF_PODS = new Set([
  'cpu',
  'memory',
  'limits.cpu',
  'limits.memory',
  'requests.cpu',
  'requests.memory',
  'pods',
  'ephemeral-storage',
  'requests.ephemeral-storage',
  'limits.ephemeral-storage',
]);

const POD_SCOPES = ['Terminating', 'NotTerminating', 'NotBestEffort', 'PriorityClass', 'CrossNamespacePodAffinity'];
const SCOPES = [...POD_SCOPES, 'BestEffort', 'VolumeAttributesClass'];

/** Scopes that a pod has or has not. */
const YES_OR_NO = ['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating', 'CrossNamespacePodAffinity'];

const CONFLICTS = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

export function validateSpec(object: KubeObject): FieldError[] {
  const spec = optionalFields(object, 'spec') ?? {};
  const faults = new Faults();
  validateAmounts(optionalFields(spec, 'hard') ?? {}, FieldPath.of('spec').child('hard'), faults);
  return [...faults.found, ...validateScopes(spec), ...validateScopeSelector(spec)];
}

export function validateStatus(object: KubeObject): FieldError[] {
  const status = optionalFields(object, 'status');
  const faults = new Faults();
  for (const list of ['hard', 'used']) {
    validateAmounts(optionalFields(status, list) ?? {}, FieldPath.of('status').child(list), faults);
  }
  return faults.found;
}

function validateAmounts(amounts: Fields, at: FieldPath, faults: Faults): void {
  for (const [name, amount] of Object.entries(amounts)) {
    const place = at.key(name);
    validateResourceName(name, place, faults);
    if (!name.includes('/') && !isOfQuotas(name)) faults.invalid(place, name, 'must be a standard resource for quota');
    validateQuantity(name, String(amount), place, faults);
  }
}

function isOfQuotas(name: string): boolean {
  return OF_QUOTAS.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-');
}

/** Whether a scope can bound the resource, as far as both are known. */
function isScopeOf(scope: string, name: string): boolean {
  if (!isOfQuotas(name)) return true;
  if (scope === 'BestEffort') return name === 'pods';
  if (scope === 'VolumeAttributesClass') return name === 'persistentvolumeclaims' || name === 'requests.storage';
  if (POD_SCOPES.includes(scope))
    return OF_PODS.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-');
  return true;
}

/** An answer names no more faults. */
const MOST_FAULTS = 1000;

/** The resources that a scope cannot bound: as many as an answer can name. */
function namesOutside(scope: string, names: readonly string[]): string[] {
  const outside: string[] = [];
  for (const name of names) {
    if (!isScopeOf(scope, name)) outside.push(name);
    if (outside.length > MOST_FAULTS) break;
  }
  return outside;
}

function validateScopes(spec: Fields): FieldError[] {
  const scopes = textsAt(spec, 'scopes');
  const names = Object.keys(optionalFields(spec, 'hard') ?? {}).sort();
  const faults: FieldError[] = [];
  // Each fault shows all scopes: their text is made once.
  const { message, ...shown } = invalidValue('spec.scopes', scopes, '');
  const fault = (detail: string): number => faults.push({ ...shown, message: `${message}: ${detail}` });
  for (const scope of scopes) {
    if (!SCOPES.includes(scope)) fault('unsupported scope');
    for (const _name of namesOutside(scope, names)) fault('unsupported scope applied to resource');
    if (faults.length > MOST_FAULTS) return faults;
  }
  for (const [one, other] of CONFLICTS) {
    if (scopes.includes(one) && scopes.includes(other)) fault('conflicting scopes');
  }
  return faults;
}

function validateScopeSelector(spec: Fields): FieldError[] {
  const selector = optionalFields(spec, 'scopeSelector');
  const names = Object.keys(optionalFields(spec, 'hard') ?? {}).sort();
  const at = 'spec.scopeSelector.matchExpressions';
  const requirements = listAt(selector, 'matchExpressions');
  const unsupported = (): FieldError =>
    invalidValue(at, goSelector(requirements), 'unsupported scope applied to resource');
  let shown: FieldError | undefined;
  let count = 0;
  const faults = requirements.flatMap((requirement) => {
    const scope = textAt(requirement, 'scopeName');
    const own: FieldError[] = [];
    if (!SCOPES.includes(scope)) own.push(invalidValue(`${at}.scopeName`, scope, 'unsupported scope'));
    count += own.length;
    if (count > MOST_FAULTS) return own;
    for (const _name of namesOutside(scope, names)) own.push((shown ??= unsupported()));
    count += own.length;
    return [...own, ...validateOperator(requirement, scope, at)];
  });
  const scopes = requirements.map((requirement) => textAt(requirement, 'scopeName'));
  for (const [one, other] of CONFLICTS) {
    if (!scopes.includes(one) || !scopes.includes(other)) continue;
    const given = textsAt(spec, 'scopes');
    faults.push(invalidValue(at, given.length > 0 ? given : null, 'conflicting scopes'));
  }
  return faults;
}

function goSelector(requirements: readonly Fields[]): object {
  return {
    MatchExpressions: requirements.map((requirement) => ({
      ScopeName: textAt(requirement, 'scopeName'),
      Operator: textAt(requirement, 'operator'),
      Values: requirement.values ?? null,
    })),
  };
}

function validateOperator(requirement: Fields, scope: string, at: string): FieldError[] {
  const operator = textAt(requirement, 'operator');
  const values = textsAt(requirement, 'values');
  const faults: FieldError[] = [];
  if (YES_OR_NO.includes(scope) && operator !== 'Exists') {
    const detail =
      "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
    faults.push(invalidValue(`${at}.operator`, operator, detail));
  }
  if (operator === 'In' || operator === 'NotIn') {
    const detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
    if (values.length === 0) faults.push(fieldRequired(`${at}.values`, detail));
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
    if (values.length > 0) faults.push(invalidValue(`${at}.values`, values, detail));
  } else faults.push(invalidValue(`${at}.operator`, operator, 'not a valid selector operator'));
  return faults;
}

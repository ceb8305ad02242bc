import {
  type FieldError,
  fieldNotSupported,
  fieldRequired,
  type KubeObject,
  seenBefore,
  validateDns1035Label,
  validateDns1123Subdomain,
  validateQualifiedName,
} from '@asterism/machinery';
import { type Fields, listAt, optionalFields, textAt, textsAt } from '../fields/draft-fields.ts';
import { invalidValues } from '../validation/name-formats.ts';
import { validateMatchResources, validateParamRef } from '../admission-rule/validate-admission-rule.ts';
import { validateMatchConditions } from '../admission-rule/validate-match-conditions.ts';
import { duplicateValue, invalidValue } from '../../registry/invalid-value.ts';

const FAILURE_POLICIES = ['Fail', 'Ignore'];
const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const ACTIONS = ['Audit', 'Deny', 'Warn'];
const REINVOCATION_POLICIES = ['IfNeeded', 'Never'];
const MAX_AUDIT_ANNOTATIONS = 20;
const MAX_AUDIT_EXPRESSION_BYTES = 5 * 1024;
const CEL_NAME = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
const CEL_RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

/** The faults of a policy, but for those of its expressions. */
export function validatePolicy(object: KubeObject): FieldError[] {
  const spec = optionalFields(object, 'spec') ?? {};
  const faults: FieldError[] = [];
  const policy = textAt(spec, 'failurePolicy');
  if (!FAILURE_POLICIES.includes(policy))
    faults.push(fieldNotSupported('spec.failurePolicy', policy, FAILURE_POLICIES));
  const paramKind = optionalFields(spec, 'paramKind');
  if (paramKind) faults.push(...validateParamKind(paramKind));
  const constraints = optionalFields(spec, 'matchConstraints');
  if (!constraints) faults.push(fieldRequired('spec.matchConstraints'));
  else {
    faults.push(...validateMatchResources(constraints, 'spec.matchConstraints'));
    if (listAt(constraints, 'resourceRules').length === 0)
      faults.push(fieldRequired('spec.matchConstraints.resourceRules'));
  }
  faults.push(...validateMatchConditions(listAt(spec, 'matchConditions'), 'spec.matchConditions'));
  faults.push(
    ...listAt(spec, 'variables').flatMap((variable, index) => validateVariable(variable, `spec.variables[${index}]`)),
  );
  const rest = object.kind === 'MutatingAdmissionPolicy' ? validateMutations(spec) : validateValidations(object, spec);
  return [...faults, ...rest];
}

function validateParamKind(kind: Fields): FieldError[] {
  const at = 'spec.paramKind';
  const apiVersion = textAt(kind, 'apiVersion');
  const name = textAt(kind, 'kind');
  const parts = apiVersion.split('/');
  const [group, version] = parts.length === 2 ? parts : ['', apiVersion];
  const faults: FieldError[] = [];
  if (apiVersion === '') faults.push(fieldRequired(`${at}.apiVersion`));
  else if (parts.length > 2)
    faults.push(invalidValue(`${at}.apiVersion`, apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
  else {
    const groupFaults = group ? validateDns1123Subdomain(group) : [];
    if (groupFaults.length > 0) faults.push(invalidValue(`${at}.apiVersion`, group, groupFaults.join(',')));
    const versionFaults = version ? validateDns1035Label(version) : [];
    if (!version) faults.push(invalidValue(`${at}.apiVersion`, apiVersion, 'version must be specified'));
    if (versionFaults.length > 0) faults.push(invalidValue(`${at}.apiVersion`, version, versionFaults.join(',')));
  }
  if (name === '') return [...faults, fieldRequired(`${at}.kind`)];
  const kindFaults = validateDns1035Label(name.toLowerCase());
  if (kindFaults.length === 0) return faults;
  const detail = `may have mixed case, but should otherwise match: ${kindFaults.join(',')}`;
  return [...faults, invalidValue(`${at}.kind`, name, detail)];
}

function validateVariable(variable: Fields, at: string): FieldError[] {
  const name = textAt(variable, 'name');
  const faults: FieldError[] = [];
  if (name.trim() === '') faults.push(fieldRequired(`${at}.name`, 'name is not specified'));
  else if (!CEL_NAME.test(name) || CEL_RESERVED.has(name))
    faults.push(invalidValue(`${at}.name`, name, 'name is not a valid CEL identifier'));
  if (textAt(variable, 'expression').trim() === '')
    faults.push(fieldRequired(`${at}.expression`, 'expression is not specified'));
  return faults;
}

function validateValidations(object: KubeObject, spec: Fields): FieldError[] {
  const validations = listAt(spec, 'validations');
  const annotations = listAt(spec, 'auditAnnotations');
  if (validations.length + annotations.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item';
    return [fieldRequired('spec.validations', detail), fieldRequired('spec.auditAnnotations', detail)];
  }
  const faults = validations.flatMap((each, index) => validateValidation(each, `spec.validations[${index}]`));
  if (annotations.length > MAX_AUDIT_ANNOTATIONS) {
    const detail = `must not have more than ${MAX_AUDIT_ANNOTATIONS} auditAnnotations`;
    faults.push(invalidValue('spec.auditAnnotations', annotations.map(goAnnotation), detail));
  }
  const keys = new Set<string>();
  for (const [index, annotation] of annotations.entries()) {
    const at = `spec.auditAnnotations[${index}]`;
    const key = textAt(annotation, 'key');
    faults.push(...validateAnnotation(annotation, at, object.metadata?.name ?? ''));
    if (keys.has(key)) faults.push(duplicateValue(`${at}.key`, key));
    keys.add(key);
  }
  return faults;
}

function goAnnotation(annotation: Fields): object {
  return { Key: textAt(annotation, 'key'), ValueExpression: textAt(annotation, 'valueExpression') };
}

function validateValidation(validation: Fields, at: string): FieldError[] {
  const faults: FieldError[] = [];
  const message = textAt(validation, 'message');
  const expression = textAt(validation, 'messageExpression');
  const { reason } = validation;
  if (textAt(validation, 'expression').trim() === '')
    faults.push(fieldRequired(`${at}.expression`, 'expression is not specified'));
  if (expression !== '' && expression.trim() === '')
    faults.push(invalidValue(`${at}.messageExpression`, expression, 'must be non-empty if specified'));
  if (message !== '' && message.trim() === '')
    faults.push(invalidValue(`${at}.message`, message, 'message must be non-empty if specified'));
  else if (/[\n\r]/.test(message.trim()))
    faults.push(invalidValue(`${at}.message`, message, 'message must not contain line breaks'));
  if (typeof reason === 'string' && !REASONS.includes(reason))
    faults.push(fieldNotSupported(`${at}.reason`, reason, REASONS));
  return faults;
}

function validateAnnotation(annotation: Fields, at: string, policy: string): FieldError[] {
  const key = textAt(annotation, 'key');
  const expression = textAt(annotation, 'valueExpression').trim();
  const qualified = `${policy}/${key}`;
  const faults =
    policy === ''
      ? [invalidValue(`${at}.key`, key, 'requires metadata.name be non-empty')]
      : invalidValues(`${at}.key`, qualified, validateQualifiedName(qualified));
  if (expression === '') faults.push(fieldRequired(`${at}.valueExpression`, 'valueExpression is not specified'));
  else if (Buffer.byteLength(expression) > MAX_AUDIT_EXPRESSION_BYTES) {
    const detail = `must not exceed ${MAX_AUDIT_EXPRESSION_BYTES} bytes in length`;
    faults.push(fieldRequired(`${at}.valueExpression`, detail));
  }
  return faults;
}

function validateMutations(spec: Fields): FieldError[] {
  const mutations = listAt(spec, 'mutations');
  const faults = mutations.flatMap((mutation, index) => validateMutation(mutation, `spec.mutations[${index}]`));
  if (mutations.length === 0) faults.push(fieldRequired('spec.mutations', 'mutations must contain at least one item'));
  const policy = textAt(spec, 'reinvocationPolicy');
  if (policy === '') faults.push(fieldRequired('spec.reinvocationPolicy'));
  else if (!REINVOCATION_POLICIES.includes(policy))
    faults.push(fieldNotSupported('spec.reinvocationPolicy', policy, REINVOCATION_POLICIES));
  return faults;
}

/** Where the expression of each type of mutation stands. */
const MUTATIONS: Readonly<Record<string, string>> = {
  ApplyConfiguration: 'applyConfiguration',
  JSONPatch: 'jsonPatch',
};

function validateMutation(mutation: Fields, at: string): FieldError[] {
  const type = textAt(mutation, 'patchType');
  const key = MUTATIONS[type];
  if (type === '') return [fieldRequired(`${at}.patchType`)];
  if (!key) return [fieldNotSupported(`${at}.patchType`, type, Object.keys(MUTATIONS))];
  const faults: FieldError[] = [];
  const part = optionalFields(mutation, key);
  if (!part) faults.push(fieldRequired(`${at}.${key}`, `must be specified when patchType is ${type}`));
  else if (textAt(part, 'expression').trim() === '')
    faults.push(fieldRequired(`${at}.${key}.expression`, 'expression is not specified'));
  for (const other of Object.values(MUTATIONS)) {
    if (other === key || mutation[other] === undefined) continue;
    faults.push(invalidValue(`${at}.${other}`, mutation[other], `must not be specified when patchType is ${type}`));
  }
  return faults;
}

/** The faults of a binding. */
export function validatePolicyBinding(object: KubeObject): FieldError[] {
  const spec = optionalFields(object, 'spec') ?? {};
  const policyName = textAt(spec, 'policyName');
  const faults =
    policyName === ''
      ? [fieldRequired('spec.policyName')]
      : invalidValues('spec.policyName', policyName, validateDns1123Subdomain(policyName));
  const params = optionalFields(spec, 'paramRef');
  if (params) faults.push(...validateParamRef(params, 'spec.paramRef'));
  const match = optionalFields(spec, 'matchResources');
  // The name of the field is upstream's.
  if (match) faults.push(...validateMatchResources(match, 'spec.matchResouces'));
  return object.kind === 'MutatingAdmissionPolicyBinding' ? faults : [...faults, ...validateActions(spec)];
}

function validateActions(spec: Fields): FieldError[] {
  const at = 'spec.validationActions';
  const actions = textsAt(spec, 'validationActions');
  const isRepeated = seenBefore<string>();
  const faults = actions.flatMap((action, index) => [
    ...(ACTIONS.includes(action) ? [] : [fieldNotSupported(`${at}[${index}]`, action, ACTIONS)]),
    ...(isRepeated(action) ? [duplicateValue(`${at}[${index}]`, action)] : []),
  ]);
  if (actions.includes('Deny') && actions.includes('Warn')) {
    const detail =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
    faults.push(invalidValue(at, actions, detail));
  }
  return actions.length > 0 ? faults : [...faults, fieldRequired(at, 'at least one validation action is required')];
}

import {
  type FieldError,
  type LabelSelector,
  labelSelectorFromObject,
  matchesLabels,
  validateDns1123Label,
} from '@asterism/machinery';
import { duplicateValue, invalidValue, notSupported, required } from '../strategy.ts';
import { type Fields, listAt, numberAt, optionalFields, textAt } from './draft-fields.ts';

/** The faults of a pod's spec that any client may meet: containers, their names, images and ports, and what volumes they name. */
export function validatePodSpec(spec: Fields, at: string): FieldError[] {
  const volumes = listAt(spec, 'volumes').map((volume) => textAt(volume, 'name'));
  const containers = listAt(spec, 'containers');
  const seen = new Set<string>();
  const errors: FieldError[] = validateVolumeNames(volumes, `${at}.volumes`);
  if (containers.length === 0) errors.push(required(`${at}.containers`));
  for (const key of ['containers', 'initContainers', 'ephemeralContainers']) {
    for (const [index, container] of listAt(spec, key).entries()) {
      errors.push(...validateContainer(container, `${at}.${key}[${index}]`, seen, volumes));
    }
  }
  const grace = numberAt(spec, 'terminationGracePeriodSeconds') ?? 0;
  if (grace < 0) {
    errors.push(invalidValue(`${at}.terminationGracePeriodSeconds`, grace, 'must be greater than or equal to 0'));
  }
  return errors;
}

function validateVolumeNames(names: readonly string[], at: string): FieldError[] {
  const seen = new Set<string>();
  return names.flatMap((name, index) => {
    const field = `${at}[${index}].name`;
    if (name === '') return [required(field)];
    const errors = validateDns1123Label(name).map((fault) => invalidValue(field, name, fault));
    if (errors.length === 0 && seen.has(name)) errors.push(duplicateValue(field, name));
    seen.add(name);
    return errors;
  });
}

function validateContainer(container: Fields, at: string, seen: Set<string>, volumes: readonly string[]): FieldError[] {
  const name = textAt(container, 'name');
  const errors: FieldError[] = [];
  if (name === '') errors.push(required(`${at}.name`));
  else errors.push(...validateDns1123Label(name).map((fault) => invalidValue(`${at}.name`, name, fault)));
  if (name !== '' && seen.has(name)) errors.push(duplicateValue(`${at}.name`, name));
  seen.add(name);
  if (textAt(container, 'image') === '') errors.push(required(`${at}.image`));
  errors.push(...validatePorts(listAt(container, 'ports'), `${at}.ports`));
  for (const [index, mount] of listAt(container, 'volumeMounts').entries()) {
    const field = `${at}.volumeMounts[${index}]`;
    const volume = textAt(mount, 'name');
    if (volume === '') errors.push(required(`${field}.name`));
    else if (!volumes.includes(volume)) {
      errors.push({
        type: 'FieldValueNotFound',
        field: `${field}.name`,
        message: `Not found: ${JSON.stringify(volume)}`,
      });
    }
    if (textAt(mount, 'mountPath') === '') errors.push(required(`${field}.mountPath`));
  }
  return errors;
}

function validatePorts(ports: readonly Fields[], at: string): FieldError[] {
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const errors: FieldError[] = [];
    const name = textAt(port, 'name');
    const number = numberAt(port, 'containerPort') ?? 0;
    if (name !== '' && names.has(name)) errors.push(duplicateValue(`${at}[${index}].name`, name));
    names.add(name);
    if (number === 0) errors.push(required(`${at}[${index}].containerPort`));
    else errors.push(...validatePort(number, `${at}[${index}].containerPort`));
    return errors;
  });
}

export function validatePort(number: number, at: string): FieldError[] {
  return number >= 1 && number <= 65535 ? [] : [invalidValue(at, number, 'must be between 1 and 65535, inclusive')];
}

export interface TemplateRules {
  /** As the message calls it: `deployment`. */
  kind: string;
  /** Restart policies that the workload allows. */
  restartPolicies: readonly string[];
}

/** The faults of a workload's `spec.selector` and `spec.template`: the one must select the other. */
export function validateSelectedTemplate(spec: Fields | undefined, rules: TemplateRules): FieldError[] {
  const errors: FieldError[] = [];
  const template = optionalFields(spec, 'template');
  const selector = spec?.selector as LabelSelector | null | undefined;
  const labels = (optionalFields(template, 'metadata')?.labels ?? null) as Record<string, string> | null;
  const isEmpty = !selector?.matchExpressions?.length && Object.keys(selector?.matchLabels ?? {}).length === 0;
  if (!selector) errors.push(required('spec.selector'));
  else if (isEmpty) errors.push(invalidValue('spec.selector', {}, `empty selector is invalid for ${rules.kind}`));
  if (!template) return [...errors, required('spec.template')];
  const matches = selector && (isEmpty || matchesLabels(labelSelectorFromObject(selector), labels ?? {}));
  if (!matches) {
    errors.push(invalidValue('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'));
  }
  return [...errors, ...validateTemplate(template, rules.restartPolicies)];
}

/** The faults of `spec.template` alone. */
export function validateTemplate(template: Fields, restartPolicies: readonly string[]): FieldError[] {
  const spec = optionalFields(template, 'spec') ?? {};
  const errors = validatePodSpec(spec, 'spec.template.spec');
  const policy = textAt(spec, 'restartPolicy');
  if (!restartPolicies.includes(policy)) {
    errors.push(notSupported('spec.template.spec.restartPolicy', policy, restartPolicies));
  }
  return errors;
}

/** A fault for each of `keys` whose number in `spec` is negative. */
export function validateNotNegative(spec: Fields | undefined, keys: readonly string[], at = 'spec'): FieldError[] {
  return keys.flatMap((key) => {
    const value = numberAt(spec, key) ?? 0;
    return value < 0 ? [invalidValue(`${at}.${key}`, value, 'must be greater than or equal to 0')] : [];
  });
}

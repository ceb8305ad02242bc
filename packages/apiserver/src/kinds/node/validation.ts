import {
  type FieldError,
  fieldForbidden,
  fieldNotSupported,
  fieldRequired,
  jsonSyntaxFault,
  type KubeObject,
  parseJson,
  seenBefore,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateLabelKey,
  validateLabelValue,
} from '@asterism/machinery';
import { type Fields, listAt, optionalFields, textAt, textsAt } from '../fields/draft-fields.ts';
import { Faults } from '../validation/faults.ts';
import { FieldPath } from '../validation/field-path.ts';
import { parseCidr, validateCidr } from '../ip/ip-address.ts';
import { invalidValues } from '../validation/name-formats.ts';
import { validateQuantity } from '../pod-spec/validate-resources.ts';
import { validateConfigKey } from '../validation/validate-text.ts';
import { internalForm } from '../validation/internal-form.ts';
import { duplicateValue, invalidValue } from '../../registry/invalid-value.ts';

const AVOID_PODS = 'scheduler.alpha.kubernetes.io/preferAvoidPods';
const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function validateNodeUpdate(object: KubeObject, old: KubeObject): FieldError[] {
  const spec = optionalFields(object, 'spec') ?? {};
  const before = optionalFields(old, 'spec') ?? {};
  const faults = [...validateAnnotations(object), ...validateResources(object), ...validateDistinctAddresses(object)];
  const was = textsAt(before, 'podCIDRs');
  const now = textsAt(spec, 'podCIDRs');
  const detail = 'node updates may not change podCIDR except from "" to valid';
  if (was.length > 0 && was.length !== now.length) faults.push(fieldForbidden('spec.podCIDRs', detail));
  else
    faults.push(...was.filter((cidr, index) => cidr !== now[index]).map(() => fieldForbidden('spec.podCIDRs', detail)));
  if (textAt(before, 'providerID') !== '' && before.providerID !== spec.providerID) {
    faults.push(fieldForbidden('spec.providerID', 'node updates may not change providerID except from "" to valid'));
  }
  const source = optionalFields(spec, 'configSource');
  if (source) faults.push(...validateConfigSource(source));
  faults.push(...validateTaints(spec));
  if (textAt(spec, 'externalID') !== textAt(before, 'externalID'))
    faults.push(fieldForbidden('spec.externalID', 'may not be updated'));
  return faults;
}

export function validateAnnotations({ metadata }: KubeObject): FieldError[] {
  const text = metadata?.annotations?.[AVOID_PODS];
  if (!text) return [];
  const at = 'metadata.annotations';
  let avoid: Fields;
  try {
    avoid = (parseJson(text) ?? {}) as Fields;
  } catch {
    return [invalidValue(`${at}.AvoidPods`, AVOID_PODS, jsonSyntaxFault(text))];
  }
  return listAt(avoid, 'preferAvoidPods').flatMap((entry, index) => {
    const within = `${at}.${AVOID_PODS}[${index}]`;
    const controller = optionalFields(optionalFields(entry, 'podSignature'), 'podController');
    if (!controller) return [fieldRequired(`${within}.PodSignature`)];
    if (controller.controller === true) return [];
    const detail = 'must point to a controller';
    return [invalidValue(`${within}.PodSignature.PodController.Controller`, controller.controller ?? null, detail)];
  });
}

/** Upstream names the place so. */
export function validateTaints(spec: Fields): FieldError[] {
  const seen = new Set<string>();
  return listAt(spec, 'taints').flatMap((taint, index) => {
    const at = `metadata.taints[${index}]`;
    const key = textAt(taint, 'key');
    const value = textAt(taint, 'value');
    const effect = textAt(taint, 'effect');
    const faults = invalidValues(`${at}.key`, key, validateLabelKey(key));
    const wrong = validateLabelValue(value);
    if (wrong.length > 0) faults.push(invalidValue(`${at}.value`, value, wrong.join(';')));
    if (effect === '') faults.push(fieldRequired(`${at}.effect`));
    else if (!EFFECTS.includes(effect)) faults.push(fieldNotSupported(`${at}.effect`, effect, EFFECTS));
    if (seen.has(`${effect}/${key}`)) {
      const { message, ...fault } = duplicateValue(at, internalForm('Taint', taint));
      faults.push({ ...fault, message: `${message}: taints must be unique by key and effect pair` });
    }
    seen.add(`${effect}/${key}`);
    return faults;
  });
}

export function validateResources(object: KubeObject): FieldError[] {
  const status = optionalFields(object, 'status');
  const faults = new Faults();
  for (const list of ['capacity', 'allocatable']) {
    for (const [name, amount] of Object.entries(optionalFields(status, list) ?? {})) {
      validateQuantity(name, String(amount), FieldPath.of('status').child(list).child(name), faults);
    }
  }
  return faults.found;
}

export function validatePodCidrs(cidrs: readonly string[]): FieldError[] {
  const at = 'spec.podCIDRs';
  const faults = cidrs.flatMap((cidr, index) => validateCidr(cidr, `${at}[${index}]`));
  if (cidrs.length < 2) return faults;
  const families = new Set(cidrs.map((cidr) => parseCidr(cidr)?.address.family));
  if (families.size < 2 || cidrs.length > 2)
    faults.push(invalidValue(at, cidrs, 'may specify no more than one CIDR for each IP family'));
  const isRepeated = seenBefore<string>();
  for (const [index, cidr] of cidrs.entries())
    if (isRepeated(cidr)) faults.push(duplicateValue(`${at}[${index}]`, cidr));
  return faults;
}

function validateDistinctAddresses(object: KubeObject): FieldError[] {
  const seen = new Set<string>();
  return listAt(optionalFields(object, 'status'), 'addresses').flatMap(({ type = '', address = '' }, index) => {
    const key = `${String(type)}/${String(address)}`;
    if (!seen.has(key)) return seen.add(key), [];
    return [duplicateValue(`status.addresses[${index}]`, { Type: type, Address: address })];
  });
}

function validateConfigSource(source: Fields): FieldError[] {
  const at = 'spec.configSource';
  const config = optionalFields(source, 'configMap');
  if (!config) return [invalidValue(at, { ConfigMap: null }, 'exactly one reference subfield must be non-nil')];
  const within = `${at}.configMap`;
  const faults: FieldError[] = [];
  for (const key of ['uid', 'resourceVersion'])
    if (textAt(config, key) !== '') faults.push(fieldForbidden(`${within}.${key}`, `${key} must not be set in spec`));
  const rules = {
    namespace: validateDns1123Label,
    name: validateDns1123Subdomain,
    kubeletConfigKey: validateConfigKey,
  };
  for (const [key, rule] of Object.entries(rules)) {
    const text = textAt(config, key);
    if (text === '') faults.push(fieldRequired(`${within}.${key}`, `${key} must be set`));
    else faults.push(...invalidValues(`${within}.${key}`, text, rule(text)));
  }
  return faults;
}

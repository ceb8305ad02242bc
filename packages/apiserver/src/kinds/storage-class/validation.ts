import {
  type FieldError,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  type KubeObject,
  seenBefore,
  validateLabelKey,
  validateQualifiedName,
} from '@asterism/machinery';
import { type Fields, listAt, optionalFields, textAt, textsAt } from '../fields/draft-fields.ts';
import { invalidValues } from '../validation/name-formats.ts';
import { duplicateValue, invalidValue } from '../../registry/invalid-value.ts';

const RECLAIM_POLICIES = ['Delete', 'Retain'];
const BINDING_MODES = ['Immediate', 'WaitForFirstConsumer'];
const MAX_PARAMETERS = 512;
const MAX_PARAMETERS_BYTES = 256 * 1024;

export function validateClass(object: KubeObject): FieldError[] {
  return [
    ...validateProvisioner(textAt(object, 'provisioner'), 'provisioner'),
    ...validateParameters(optionalFields(object, 'parameters') ?? {}),
    ...validateChoice(object, 'reclaimPolicy', RECLAIM_POLICIES),
    ...validateChoice(object, 'volumeBindingMode', BINDING_MODES),
    ...validateTopologies(object),
  ];
}

/** Of provisioners and of drivers of VolumeAttributesClasses. */
export function validateProvisioner(name: string, at: string): FieldError[] {
  if (name === '') return [fieldRequired(at)];
  return invalidValues(at, name, validateQualifiedName(name.toLowerCase()));
}

export function validateParameters(parameters: Fields): FieldError[] {
  const entries = Object.entries(parameters);
  if (entries.length > MAX_PARAMETERS) return [fieldTooLong('parameters', MAX_PARAMETERS)];
  const faults = entries
    .filter(([key]) => key === '')
    .map(([key]) => invalidValue('parameters', key, 'field can not be empty.'));
  const bytes = entries.reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(value)),
    0,
  );
  if (bytes > MAX_PARAMETERS_BYTES) faults.push(fieldTooLong('parameters', MAX_PARAMETERS_BYTES));
  return faults;
}

function validateChoice(object: KubeObject, key: string, values: readonly string[]): FieldError[] {
  const value = textAt(object, key);
  return values.includes(value) ? [] : [fieldNotSupported(key, value, values)];
}

function validateTopologies(object: KubeObject): FieldError[] {
  const terms = listAt(object, 'allowedTopologies');
  // Upstream compares each with as many empty ones first.
  const seen = new Map([[JSON.stringify(topologyOf({})), terms.length]]);
  let left = MOST_REPEATED;
  return terms.flatMap((term, index) => {
    const at = `allowedTopologies[${index}]`;
    const keys = new Set<string>();
    const faults = listAt(term, 'matchLabelExpressions').flatMap((requirement, place) =>
      validateRequirement(requirement, `${at}.matchLabelExpressions[${place}]`, keys),
    );
    const topology = JSON.stringify(topologyOf(term));
    const count = seen.get(topology) ?? 0;
    seen.set(topology, count + 1);
    const told = Math.min(count, left);
    left -= told;
    return [...faults, ...Array.from({ length: told }, () => duplicateValue(`${at}.matchLabelExpressions`, ''))];
  });
}

/** Upstream names each pair of equal terms. An answer tells fewer faults than this. */
const MOST_REPEATED = 1_001;

/** What a term asks for, by its keys in order: neither of these nor of their values the order counts. */
function topologyOf(term: Fields): [key: string, values: string[]][] {
  const values = new Map(
    listAt(term, 'matchLabelExpressions').map((requirement) => [
      textAt(requirement, 'key'),
      [...new Set(textsAt(requirement, 'values'))].sort(),
    ]),
  );
  return [...values].sort(([a], [b]) => (a < b ? -1 : 1));
}

function validateRequirement(requirement: Fields, at: string, keys: Set<string>): FieldError[] {
  const key = textAt(requirement, 'key');
  const values = textsAt(requirement, 'values');
  const faults = values.length === 0 ? [fieldRequired(`${at}.values`)] : [];
  const isRepeated = seenBefore<string>();
  for (const [index, value] of values.entries())
    if (isRepeated(value)) faults.push(duplicateValue(`${at}.values[${index}]`, value));
  faults.push(...invalidValues(`${at}.key`, key, validateLabelKey(key)));
  if (keys.has(key)) faults.push(duplicateValue(`${at}.key`, key));
  keys.add(key);
  return faults;
}

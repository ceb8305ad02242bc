import {
  type PodSchedulingGate,
  type Toleration,
  type TopologySpreadConstraint,
  validateLabelKey,
  validateLabelValue,
  validateQualifiedName,
} from '@asterism/machinery';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';
import { validateLabelSelector } from '../validation/validate-label-selector.ts';
import { validateMatchLabelKeys } from './validate-affinity.ts';
import { validateChoice } from '../validation/validate-text.ts';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** `ValidateTolerations`. The comparing operators belong to a feature that is off by default. */
export function validateTolerations(tolerations: readonly Toleration[], at: FieldPath, faults: Faults): void {
  for (const [index, toleration] of tolerations.entries()) {
    const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration as TolerationTexts;
    const place = at.index(index);
    if (key !== '') faults.invalidEach(place.child('key'), key, validateLabelKey(key));
    if (key === '' && operator !== 'Exists') {
      const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      faults.invalid(place.child('operator'), operator, detail);
    }
    if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
      faults.invalid(place.child('effect'), effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    if (operator === '' || operator === 'Equal') {
      const wrong = validateLabelValue(value);
      if (wrong.length > 0) faults.invalid(place.child('operator'), value, wrong.join(';'));
    } else if (operator === 'Exists') {
      if (value !== '') {
        faults.invalid(place.child('operator'), value, "value must be empty when `operator` is 'Exists'");
      }
    } else {
      const compares = operator === 'Lt' || operator === 'Gt';
      faults.notSupported(place.child('operator'), operator, ['Equal', 'Exists', ...(compares ? ['Lt', 'Gt'] : [])]);
    }
    if (effect !== '') validateChoice(effect, EFFECTS, place.child('effect'), faults);
  }
}

/** The texts of a toleration as they came, which may be none of those that there are. */
interface TolerationTexts {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  tolerationSeconds?: number;
}

export function validateSchedulingGates(gates: readonly PodSchedulingGate[], at: FieldPath, faults: Faults): void {
  const seen = new Set<string>();
  for (const [index, { name = '' }] of gates.entries()) {
    faults.invalidEach(at.index(index), name, validateQualifiedName(name));
    if (seen.has(name)) faults.duplicate(at.index(index), name);
    seen.add(name);
  }
}

const ACTIONS = ['DoNotSchedule', 'ScheduleAnyway'];
const INCLUSION_POLICIES = ['Honor', 'Ignore'];
const POSITIVE = 'must be greater than zero';

export function validateTopologySpread(
  constraints: readonly TopologySpreadConstraint[],
  at: FieldPath,
  faults: Faults,
): void {
  const pairs = constraints.map(({ topologyKey, whenUnsatisfiable }) => `${whenUnsatisfiable} ${topologyKey}`);
  const lastIndexes = new Map(pairs.map((pair, index) => [pair, index]));
  for (const [index, constraint] of constraints.entries()) {
    const { maxSkew, topologyKey, whenUnsatisfiable, minDomains, matchLabelKeys } = constraint;
    const { nodeAffinityPolicy, nodeTaintsPolicy, labelSelector } = constraint;
    const place = at.index(index);
    if (maxSkew <= 0) faults.invalid(place.child('maxSkew'), maxSkew, POSITIVE);
    if (topologyKey === '') faults.required(place.child('topologyKey'), 'can not be empty');
    validateChoice(whenUnsatisfiable, ACTIONS, place.child('whenUnsatisfiable'), faults);
    if (lastIndexes.get(pairs[index] ?? '') !== index) {
      faults.duplicate(place.child('{topologyKey, whenUnsatisfiable}'), `{${topologyKey}, ${whenUnsatisfiable}}`);
    }
    if (minDomains !== undefined) {
      if (minDomains <= 0) faults.invalid(place.child('minDomains'), minDomains, POSITIVE);
      if (whenUnsatisfiable !== 'DoNotSchedule') {
        const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
        faults.invalid(place.child('minDomains'), minDomains, detail);
      }
    }
    validateChoice(nodeAffinityPolicy, INCLUSION_POLICIES, place.child('nodeAffinityPolicy'), faults);
    validateChoice(nodeTaintsPolicy, INCLUSION_POLICIES, place.child('nodeTaintsPolicy'), faults);
    validateMatchLabelKeys({ matchLabelKeys, labelSelector }, place, faults);
    validateLabelSelector(labelSelector, place.child('labelSelector'), faults);
  }
}

import { isQuantity, parseQuantity } from '@asterism/machinery';
import { SPEC } from '../workload/validate-workload.ts';
import { type Fields, listAt, numberAt, optionalFields, textAt } from '../fields/draft-fields.ts';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';
import { validateMetric } from './validate-metrics.ts';
import { validateScaleTarget } from './validate-scale-target.ts';

const LONGEST_WINDOW = 3600;
const LONGEST_PERIOD = 1800;

/** The rules of `validateHorizontalPodAutoscalerSpec`. */
export function validateAutoscalerSpec(spec: Fields, faults: Faults): void {
  const min = numberAt(spec, 'minReplicas');
  const max = numberAt(spec, 'maxReplicas') ?? 0;
  if (min !== undefined && min < 1) {
    faults.invalid(SPEC.child('minReplicas'), min, 'must be greater than or equal to 1');
  }
  const at = SPEC.child('maxReplicas');
  if (max < 1) faults.invalid(at, max, 'must be greater than 0');
  if (min !== undefined && max < min) faults.invalid(at, max, 'must be greater than or equal to `minReplicas`');
  validateScaleTarget(optionalFields(spec, 'scaleTargetRef') ?? {}, SPEC.child('scaleTargetRef'), faults);
  const metrics = listAt(spec, 'metrics');
  for (const [index, metric] of metrics.entries()) validateMetric(metric, SPEC.child('metrics').index(index), faults);
  validateScaleToZero(metrics, min, faults);
  const behavior = optionalFields(spec, 'behavior');
  for (const key of ['scaleUp', 'scaleDown']) {
    const rules = optionalFields(behavior, key);
    if (rules) validateScalingRules(rules, SPEC.child('behavior').child(key), faults);
  }
}

function validateScaleToZero(metrics: readonly Fields[], min: number | undefined, faults: Faults): void {
  if (min !== 0) return;
  if (metrics.some(({ type }) => type === 'Object' || type === 'External')) return;
  const detail = 'must specify at least one Object or External metric to support scaling to zero replicas';
  faults.forbidden(SPEC.child('metrics'), detail);
}

function validateScalingRules(rules: Fields, at: FieldPath, faults: Faults): void {
  const window = numberAt(rules, 'stabilizationWindowSeconds');
  const place = at.child('stabilizationWindowSeconds');
  if (window !== undefined && window < 0) {
    faults.invalid(place, window, 'must be greater than or equal to zero');
  }
  if (window !== undefined && window > LONGEST_WINDOW) {
    faults.invalid(place, window, `must be less than or equal to ${LONGEST_WINDOW}`);
  }
  const { selectPolicy, tolerance } = rules;
  if (typeof selectPolicy === 'string' && !['Disabled', 'Max', 'Min'].includes(selectPolicy)) {
    faults.notSupported(at.child('selectPolicy'), selectPolicy, ['Disabled', 'Max', 'Min']);
  }
  const policies = listAt(rules, 'policies');
  if (policies.length === 0) faults.required(at.child('policies'), 'must specify at least one Policy');
  for (const [index, policy] of policies.entries()) {
    validateScalingPolicy(policy, at.child('policies').index(index), faults);
  }
  if (isQuantity(tolerance) && parseQuantity(tolerance).nanos < 0n) {
    faults.invalid(at.child('tolerance'), String(tolerance), 'must be greater than or equal to 0');
  }
}

function validateScalingPolicy(policy: Fields, at: FieldPath, faults: Faults): void {
  const type = textAt(policy, 'type');
  const value = numberAt(policy, 'value') ?? 0;
  const period = numberAt(policy, 'periodSeconds') ?? 0;
  if (type !== 'Pods' && type !== 'Percent') faults.notSupported(at.child('type'), type, ['Percent', 'Pods']);
  if (value <= 0) faults.invalid(at.child('value'), value, 'must be greater than zero');
  if (period <= 0) faults.invalid(at.child('periodSeconds'), period, 'must be greater than zero');
  if (period > LONGEST_PERIOD) {
    faults.invalid(at.child('periodSeconds'), period, `must be less than or equal to ${LONGEST_PERIOD}`);
  }
}

import { isQuantity, parseQuantity } from '@asterism/machinery';
import { validateScaleTarget, validateSegment } from './validate-scale-target.ts';
import { type Fields, numberAt, optionalFields, textAt } from '../fields/draft-fields.ts';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';
import { validateLabelSelector } from '../validation/validate-label-selector.ts';

const TYPES = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'];

/** The source of each type, in the order in which upstream looks for them. */
const SOURCES: readonly {
  type: string;
  key: string;
  validate: (source: Fields, at: FieldPath, faults: Faults) => void;
}[] = [
  { type: 'Object', key: 'object', validate: validateObjectMetric },
  { type: 'External', key: 'external', validate: validateExternalMetric },
  { type: 'Pods', key: 'pods', validate: validatePodsMetric },
  { type: 'Resource', key: 'resource', validate: validateResourceMetric },
  { type: 'ContainerResource', key: 'containerResource', validate: validateContainerMetric },
];

/** The rules of `validateMetricSpec`: one metric has one source, of the type that it says. */
export function validateMetric(metric: Fields, at: FieldPath, faults: Faults): void {
  const type = textAt(metric, 'type');
  if (type === '') faults.required(at.child('type'), 'must specify a metric source type');
  if (!TYPES.includes(type)) faults.notSupported(at.child('type'), type, TYPES);
  const present = SOURCES.filter(({ key }) => optionalFields(metric, key));
  const [first] = present;
  if (first) first.validate(optionalFields(metric, first.key) ?? {}, at.child(first.key), faults);
  const expected = SOURCES.find((source) => source.type === type);
  // Upstream says it twice.
  if (!expected) faults.notSupported(at.child('type'), type, TYPES);
  else if (!present.includes(expected)) {
    faults.required(at.child(expected.key), 'must populate information for the given metric source');
  }
  if (present.length === 1) return;
  for (const source of present) {
    if (source !== expected) faults.forbidden(at.child(source.key), 'must populate the given metric source only');
  }
}

function validateObjectMetric(source: Fields, at: FieldPath, faults: Faults): void {
  validateScaleTarget(optionalFields(source, 'describedObject') ?? {}, at.child('describedObject'), faults, false);
  validateIdentifier(source, at.child('metric'), faults);
  const target = optionalFields(source, 'target') ?? {};
  const place = at.child('target');
  validateMetricTarget(target, place, faults);
  const [value, average] = [target.value, target.averageValue];
  if (value === undefined && average === undefined) {
    faults.required(place.child('averageValue'), 'must set either a target value for metric or a per-pod target');
  }
}

function validateExternalMetric(source: Fields, at: FieldPath, faults: Faults): void {
  validateIdentifier(source, at.child('metric'), faults);
  const target = optionalFields(source, 'target') ?? {};
  const place = at.child('target');
  validateMetricTarget(target, place, faults);
  const { value, averageValue } = target;
  if (value === undefined && averageValue === undefined) {
    faults.required(place.child('averageValue'), 'must set either a target value for metric or a per-pod target');
  }
  if (value !== undefined && averageValue !== undefined) {
    faults.forbidden(place.child('value'), 'may not set both a target value for metric and a per-pod target');
  }
}

function validatePodsMetric(source: Fields, at: FieldPath, faults: Faults): void {
  validateIdentifier(source, at.child('metric'), faults);
  const target = optionalFields(source, 'target') ?? {};
  const place = at.child('target');
  validateMetricTarget(target, place, faults);
  if (!isPositive(target.averageValue)) {
    faults.required(place.child('averageValue'), 'must specify a positive target averageValue');
  }
}

function validateResourceMetric(source: Fields, at: FieldPath, faults: Faults): void {
  if (textAt(source, 'name') === '') faults.required(at.child('name'), 'must specify a resource name');
  validateUsage(optionalFields(source, 'target') ?? {}, at.child('target'), faults);
}

function validateContainerMetric(source: Fields, at: FieldPath, faults: Faults): void {
  if (textAt(source, 'name') === '') faults.required(at.child('name'), 'must specify a resource name');
  const container = textAt(source, 'container');
  if (container === '') faults.required(at.child('container'), 'must specify a container');
  else faults.invalidEach(at.child('container'), container, validateSegment(container));
  validateUsage(optionalFields(source, 'target') ?? {}, at.child('target'), faults);
}

/** How much of a resource is used: as a share of what was asked for, or as such. */
function validateUsage(target: Fields, at: FieldPath, faults: Faults): void {
  validateMetricTarget(target, at, faults);
  const { averageUtilization, averageValue } = target;
  if (averageUtilization === undefined && averageValue === undefined) {
    const detail = 'must set either a target raw value or a target utilization';
    faults.required(at.child('averageUtilization'), detail);
  }
  if (averageUtilization !== undefined && averageValue !== undefined) {
    faults.forbidden(at.child('averageValue'), 'may not set both a target raw value and a target utilization');
  }
}

function validateMetricTarget(target: Fields, at: FieldPath, faults: Faults): void {
  const type = textAt(target, 'type');
  if (type === '') faults.required(at.child('type'), 'must specify a metric target type');
  else if (!['Utilization', 'Value', 'AverageValue'].includes(type)) {
    faults.invalid(at.child('type'), type, 'must be either Utilization, Value, or AverageValue');
  }
  for (const key of ['value', 'averageValue']) {
    const amount = target[key];
    if (amount !== undefined && !isPositive(amount))
      faults.invalid(at.child(key), textAt(target, key), 'must be positive');
  }
  const utilization = numberAt(target, 'averageUtilization');
  if (utilization !== undefined && utilization < 1) {
    faults.invalid(at.child('averageUtilization'), utilization, 'must be greater than 0');
  }
}

function isPositive(amount: unknown): boolean {
  return isQuantity(amount) && parseQuantity(amount).nanos > 0n;
}

function validateIdentifier(source: Fields, at: FieldPath, faults: Faults): void {
  const metric = optionalFields(source, 'metric') ?? {};
  const name = textAt(metric, 'name');
  if (name === '') faults.required(at.child('name'), 'must specify a metric name');
  else faults.invalidEach(at.child('name'), name, validateSegment(name));
  if (metric.selector) validateLabelSelector(metric.selector, at.child('selector'), faults);
}

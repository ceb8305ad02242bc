import {
  deepEqual,
  type FieldError,
  fieldRequired,
  type KubeObject,
  validateDns1123Subdomain,
  validateQualifiedName,
} from '@asterism/machinery';
import { type Fields, numberAt, optionalFields, textAt } from '../fields/draft-fields.ts';
import { validateImmutable } from '../validation/immutable-field.ts';
import { invalidValues } from '../validation/name-formats.ts';
import { internalForm } from '../validation/internal-form.ts';
import { invalidValue } from '../../registry/invalid-value.ts';

/** Most bytes of these texts. */
const LIMITS: Readonly<Record<string, number>> = { reportingInstance: 128, action: 128, reason: 128, message: 1024 };
const MISMATCH = 'does not match event.namespace';

/** What is asked of every Event, in the form of core/v1. */
export function validateEvent(event: KubeObject): FieldError[] {
  const namespace = event.metadata?.namespace ?? '';
  const involved = textAt(optionalFields(event, 'involvedObject'), 'namespace');
  const isNew = textAt(event, 'eventTime') !== '';
  const allowed = isNew ? ['default', 'kube-system'] : ['', 'default'];
  const matches = involved === '' ? allowed.includes(namespace) : isNew || involved === namespace;
  const errors = matches ? [] : [invalidValue('involvedObject.namespace', involved, MISMATCH)];
  if (isNew) errors.push(...validateNewEvent(event));
  return [...errors, ...invalidValues('namespace', namespace, validateDns1123Subdomain(namespace))];
}

function validateNewEvent(event: KubeObject): FieldError[] {
  const controller = textAt(event, 'reportingComponent');
  const errors = controller === '' ? [fieldRequired('reportingController')] : [];
  errors.push(...invalidValues('reportingController', controller, validateQualifiedName(controller)));
  for (const [key, limit] of Object.entries(LIMITS)) {
    const text = textAt(event, key);
    if (text === '' && key !== 'message') errors.push(fieldRequired(key));
    if (Buffer.byteLength(text) > limit) errors.push(invalidValue(key, '', `can have at most ${limit} characters`));
  }
  return errors;
}

/** What is asked besides of a new Event of events.k8s.io/v1, in the form of core/v1. */
export function validateStrictEvent(event: KubeObject): FieldError[] {
  const errors = validateSeries(event);
  const type = textAt(event, 'type');
  if (textAt(event, 'eventTime') === '') errors.push(fieldRequired('eventTime'));
  if (type !== 'Normal' && type !== 'Warning') errors.push(invalidValue('type', '', `has invalid value: ${type}`));
  const source = optionalFields(event, 'source');
  const unset = {
    firstTimestamp: !event.firstTimestamp,
    lastTimestamp: !event.lastTimestamp,
    count: (numberAt(event, 'count') ?? 0) === 0,
    source: textAt(source, 'component') === '' && textAt(source, 'host') === '',
  };
  for (const [key, isUnset] of Object.entries(unset))
    if (!isUnset) errors.push(invalidValue(key, '', 'needs to be unset'));
  return errors;
}

/** Of an Event of events.k8s.io/v1 only the series goes on. */
export function validateStrictEventUpdate(event: KubeObject, old: KubeObject): FieldError[] {
  const errors = deepEqual(event.series ?? null, old.series ?? null) ? [] : validateSeries(event);
  errors.push(...immutableStruct(event, old, 'involvedObject', 'ObjectReference'));
  errors.push(...immutableTexts(event, old, ['reason', 'message']));
  errors.push(...immutableStruct(event, old, 'source', 'EventSource'));
  errors.push(...validateImmutable(event, old, '', ['firstTimestamp', 'lastTimestamp']));
  if ((event.count ?? 0) !== (old.count ?? 0))
    errors.push(invalidValue('count', event.count ?? 0, 'field is immutable'));
  errors.push(...immutableTexts(event, old, ['reason', 'type']));
  errors.push(...validateImmutable(event, old, '', ['eventTime']));
  errors.push(...immutableTexts(event, old, ['action']));
  errors.push(...immutableStruct(event, old, 'related', 'ObjectReference'));
  const controller = immutableTexts(event, old, ['reportingComponent']);
  errors.push(...controller.map((error) => ({ ...error, field: 'reportingController' })));
  return [...errors, ...immutableTexts(event, old, ['reportingInstance'])];
}

function immutableTexts(event: Fields, old: Fields, keys: readonly string[]): FieldError[] {
  return keys
    .filter((key) => textAt(event, key) !== textAt(old, key))
    .map((key) => invalidValue(key, textAt(event, key), 'field is immutable'));
}

function immutableStruct(event: Fields, old: Fields, key: string, type: string): FieldError[] {
  if (deepEqual(event[key] ?? {}, old[key] ?? {})) return [];
  const value = optionalFields(event, key);
  return [invalidValue(key, value ? internalForm(type, value) : null, 'field is immutable')];
}

function validateSeries(event: KubeObject): FieldError[] {
  const series = optionalFields(event, 'series');
  if (!series) return [];
  const errors: FieldError[] = [];
  if ((numberAt(series, 'count') ?? 0) < 2) errors.push(invalidValue('series.count', '', 'should be at least 2'));
  if (textAt(series, 'lastObservedTime') === '') errors.push(fieldRequired('series.lastObservedTime'));
  return errors;
}

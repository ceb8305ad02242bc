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
  const faults = matches ? [] : [invalidValue('involvedObject.namespace', involved, MISMATCH)];
  if (isNew) faults.push(...validateNewEvent(event));
  return [...faults, ...invalidValues('namespace', namespace, validateDns1123Subdomain(namespace))];
}

function validateNewEvent(event: KubeObject): FieldError[] {
  const controller = textAt(event, 'reportingComponent');
  const faults = controller === '' ? [fieldRequired('reportingController')] : [];
  faults.push(...invalidValues('reportingController', controller, validateQualifiedName(controller)));
  for (const [key, limit] of Object.entries(LIMITS)) {
    const text = textAt(event, key);
    if (text === '' && key !== 'message') faults.push(fieldRequired(key));
    if (Buffer.byteLength(text) > limit) faults.push(invalidValue(key, '', `can have at most ${limit} characters`));
  }
  return faults;
}

/** What is asked besides of a new Event of events.k8s.io/v1, in the form of core/v1. */
export function validateStrictEvent(event: KubeObject): FieldError[] {
  const faults = validateSeries(event);
  const type = textAt(event, 'type');
  if (textAt(event, 'eventTime') === '') faults.push(fieldRequired('eventTime'));
  if (type !== 'Normal' && type !== 'Warning') faults.push(invalidValue('type', '', `has invalid value: ${type}`));
  const source = optionalFields(event, 'source');
  const unset = {
    firstTimestamp: !event.firstTimestamp,
    lastTimestamp: !event.lastTimestamp,
    count: (numberAt(event, 'count') ?? 0) === 0,
    source: textAt(source, 'component') === '' && textAt(source, 'host') === '',
  };
  for (const [key, isUnset] of Object.entries(unset))
    if (!isUnset) faults.push(invalidValue(key, '', 'needs to be unset'));
  return faults;
}

/** Of an Event of events.k8s.io/v1 only the series goes on. */
export function validateStrictEventUpdate(event: KubeObject, old: KubeObject): FieldError[] {
  const faults = deepEqual(event.series ?? null, old.series ?? null) ? [] : validateSeries(event);
  faults.push(...immutableStruct(event, old, 'involvedObject', 'ObjectReference'));
  faults.push(...immutableTexts(event, old, ['reason', 'message']));
  faults.push(...immutableStruct(event, old, 'source', 'EventSource'));
  faults.push(...validateImmutable(event, old, '', ['firstTimestamp', 'lastTimestamp']));
  if ((event.count ?? 0) !== (old.count ?? 0))
    faults.push(invalidValue('count', event.count ?? 0, 'field is immutable'));
  faults.push(...immutableTexts(event, old, ['reason', 'type']));
  faults.push(...validateImmutable(event, old, '', ['eventTime']));
  faults.push(...immutableTexts(event, old, ['action']));
  faults.push(...immutableStruct(event, old, 'related', 'ObjectReference'));
  const controller = immutableTexts(event, old, ['reportingComponent']);
  faults.push(...controller.map((fault) => ({ ...fault, field: 'reportingController' })));
  return [...faults, ...immutableTexts(event, old, ['reportingInstance'])];
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
  const faults: FieldError[] = [];
  if ((numberAt(series, 'count') ?? 0) < 2) faults.push(invalidValue('series.count', '', 'should be at least 2'));
  if (textAt(series, 'lastObservedTime') === '') faults.push(fieldRequired('series.lastObservedTime'));
  return faults;
}

import type { FieldError, KubeObject } from '@asterism/machinery';
import { type Fields, optionalFields, textAt } from '../fields/draft-fields.ts';
import { validateEvent, validateStrictEvent, validateStrictEventUpdate } from './validation.ts';
import type { Conversion } from '../../contract/conversion.ts';
import type { Strategy } from '../../contract/strategy.ts';

const INVOLVED = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

/** Of core Events and those of events.k8s.io, which are one and the same objects. Stored as the former. */
export const eventStrategy: Strategy = {
  validatesEnums: true,
  validateCreate: (object) => validateAsCore(object, undefined),
  validateUpdate: validateAsCore,
  selectableFields: {
    ...selectors('involvedObject'),
    ...selectors('regarding'),
    reason: (object) => textAt(object, 'reason'),
    reportingComponent: (object) => textAt(object, 'reportingComponent'),
    reportingController: (object) => textAt(object, 'reportingComponent'),
    type: (object) => textAt(object, 'type'),
    source: (object) => textAt(optionalFields(object, 'source'), 'component') || textAt(object, 'reportingComponent'),
  },
};

/** More is asked of who writes by events.k8s.io/v1 than of those who came before it. */
function validateAsCore(object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const strict = object.apiVersion === 'events.k8s.io/v1';
  const event = object.apiVersion === 'v1' ? object : eventsV1.toStorage(object);
  const errors = validateEvent(event);
  if (!strict) return errors;
  const before = old && (old.apiVersion === 'v1' ? old : eventsV1.toStorage(old));
  return [...errors, ...(before ? validateStrictEventUpdate(event, before) : validateStrictEvent(event))];
}

function selectors(prefix: string): Record<string, (object: KubeObject) => string> {
  return Object.fromEntries(
    INVOLVED.map((field) => [
      `${prefix}.${field}`,
      (object) => textAt(optionalFields(object, 'involvedObject'), field),
    ]),
  );
}

/** Names of the same field in `core/v1` and `events.k8s.io/v1`. */
const NAMES: readonly (readonly [string, string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['reportingComponent', 'reportingController'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
];

/** events.k8s.io/v1 as a view of the stored core Event. */
export const eventsV1: Conversion = {
  fromStorage: (object) => compact({ ...renamed(object, NAMES), apiVersion: 'events.k8s.io/v1' }),
  toStorage: (object) =>
    compactCore({
      ...renamed(
        object,
        NAMES.map(([core, events]) => [events, core] as const),
      ),
      apiVersion: 'v1',
    }),
};

function renamed(object: KubeObject, names: readonly (readonly [string, string])[]): Fields {
  const byName = new Map(names);
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [byName.get(key) ?? key, value]));
}

/** Fields that events.k8s.io leaves out where they are empty, and core does not. */
function compact(object: Fields): KubeObject {
  for (const key of ['reportingController', 'reportingInstance', 'note']) if (object[key] === '') delete object[key];
  object.deprecatedSource ??= {};
  return object as KubeObject;
}

function compactCore(object: Fields): KubeObject {
  object.reportingComponent ??= '';
  object.reportingInstance ??= '';
  object.source ??= {};
  object.firstTimestamp ??= null;
  object.lastTimestamp ??= null;
  return object as KubeObject;
}

import type { FieldError, KubeObject } from '@asterism/machinery';
import { optionalFields, textAt } from '../fields/draft-fields.ts';
import { validateEvent, validateStrictEvent, validateStrictEventUpdate } from './validation.ts';
import { eventsV1 } from './events-v1.ts';
import type { Kind } from '../../contract/kind.ts';

const INVOLVED = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

/** Of core Events and those of events.k8s.io, which are one and the same objects. Stored as the former. */
export const eventKind: Kind = {
  groupResource: 'events',
  conversions: { 'events.k8s.io/v1': eventsV1 },
  legacyVersions: [
    // client-go before 0.19 records events with this version.
    {
      group: 'events.k8s.io',
      version: 'v1beta1',
      conversion: {
        fromStorage: (object) => ({ ...eventsV1.fromStorage(object), apiVersion: 'events.k8s.io/v1beta1' }),
        toStorage: (object) => eventsV1.toStorage(object),
      },
      deprecated: 'v1.19',
      removed: 'v1.25',
    },
  ],
  strategy: {
    createOnUpdate: true,
    metadataChecks: 2,
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
  },
};

/** More is asked of who writes by events.k8s.io/v1 than of those who came before it. */
function validateAsCore(object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const strict = object.apiVersion === 'events.k8s.io/v1';
  const event = object.apiVersion === 'v1' ? object : eventsV1.toStorage(object);
  const faults = validateEvent(event);
  if (!strict) return faults;
  const before = old && (old.apiVersion === 'v1' ? old : eventsV1.toStorage(old));
  return [...faults, ...(before ? validateStrictEventUpdate(event, before) : validateStrictEvent(event))];
}

function selectors(prefix: string): Record<string, (object: KubeObject) => string> {
  return Object.fromEntries(
    INVOLVED.map((field) => [
      `${prefix}.${field}`,
      (object) => textAt(optionalFields(object, 'involvedObject'), field),
    ]),
  );
}

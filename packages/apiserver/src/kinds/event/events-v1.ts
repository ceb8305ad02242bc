import type { KubeObject } from '@asterism/machinery';
import type { Conversion } from '../../contract/conversion.ts';
import type { Fields } from '../fields/draft-fields.ts';

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

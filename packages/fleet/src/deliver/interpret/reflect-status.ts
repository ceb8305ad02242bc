import { isJsonObject, type KubeObject } from '@asterism/machinery';
import { autoscalerFaults } from './health.ts';
import { kindKey } from './kind-key.ts';
import { FIELDS_OF_A_LARGE_STATUS, pickFields, REFLECTED_FIELDS, STATUS_LIMIT } from './reflected-fields.ts';
import type { Status } from './status-fields.ts';

const AUTOSCALER = 'HorizontalPodAutoscaler.autoscaling';

/**
 * What of an object's status is told to the hub: less than all where the kind is known, or where it is large. Undefined where it has
 * none. What says only that a controller has looked again is left out everywhere: it would be written without end.
 */
export function reflectStatus(object: KubeObject): Status | undefined {
  const { status } = object;
  if (!isJsonObject(status)) return undefined;
  const key = kindKey(object);
  const reflected = withoutClocks(pickFields(status, REFLECTED_FIELDS.get(key) ?? Object.keys(status)));
  // An autoscaler's words follow its metrics: only what keeps it from its work is told.
  const faults = key === AUTOSCALER ? autoscalerFaults(status).map(withoutClocks) : [];
  if (faults.length > 0) return { ...reflected, conditions: faults };
  if (Object.keys(reflected).length === 0) return undefined;
  return JSON.stringify(reflected).length > STATUS_LIMIT ? pickFields(reflected, FIELDS_OF_A_LARGE_STATUS) : reflected;
}

/** Names that controllers give to when they last looked, rather than to what they saw or when something changed. */
const CLOCKS: readonly RegExp[] = [
  /^last(?:Update|Probe|Check|Reconcile|Reconciliation|Sync|Refresh|Poll|Scan|Seen|Observe)(?:d|n?ed)?(?:Time|Timestamp|At)?$/,
  /^(?:reconciled|observed|checked|synced|refreshed|polled)(?:At|Time)$/,
  /heartbeat/i,
  /^resourceVersion$/,
];

function isClock(field: string, value: unknown): boolean {
  return typeof value === 'string' && CLOCKS.some((name) => name.test(field));
}

function withoutClocks(status: Status): Status {
  return Object.fromEntries(
    Object.entries(status)
      .filter(([field, value]) => !isClock(field, value))
      .map(([field, value]) => [field, cleaned(value)]),
  );
}

function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cleaned);
  return isJsonObject(value) ? withoutClocks(value) : value;
}

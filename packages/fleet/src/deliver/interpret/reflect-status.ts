import { isJsonObject, type KubeObject } from '@asterism/machinery';
import { autoscalerFaults } from './health.ts';
import { kindKey } from './kind-key.ts';
import type { Status } from './status-fields.ts';

/** Of the kinds that are known, what the hub makes use of. Metrics and pod addresses would change without end. */
const REFLECTED: ReadonlyMap<string, readonly string[]> = new Map([
  [
    'Deployment.apps',
    [
      'observedGeneration',
      'replicas',
      'readyReplicas',
      'updatedReplicas',
      'availableReplicas',
      'unavailableReplicas',
      'conditions',
    ],
  ],
  [
    'StatefulSet.apps',
    [
      'observedGeneration',
      'replicas',
      'readyReplicas',
      'currentReplicas',
      'updatedReplicas',
      'availableReplicas',
      'currentRevision',
      'updateRevision',
    ],
  ],
  [
    'ReplicaSet.apps',
    ['observedGeneration', 'replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'conditions'],
  ],
  [
    'DaemonSet.apps',
    [
      'observedGeneration',
      'currentNumberScheduled',
      'desiredNumberScheduled',
      'numberAvailable',
      'numberMisscheduled',
      'numberReady',
      'numberUnavailable',
      'updatedNumberScheduled',
    ],
  ],
  ['Job.batch', ['active', 'succeeded', 'failed', 'ready', 'startTime', 'completionTime', 'conditions']],
  ['CronJob.batch', ['active', 'lastScheduleTime', 'lastSuccessfulTime']],
  ['Service', ['loadBalancer']],
  ['Ingress.networking.k8s.io', ['loadBalancer']],
  ['PersistentVolumeClaim', ['phase', 'accessModes', 'capacity']],
  ['PersistentVolume', ['phase']],
  ['Pod', ['phase', 'conditions', 'startTime']],
  [
    'PodDisruptionBudget.policy',
    ['observedGeneration', 'currentHealthy', 'desiredHealthy', 'disruptionsAllowed', 'expectedPods', 'disruptedPods'],
  ],
  ['HorizontalPodAutoscaler.autoscaling', ['observedGeneration', 'currentReplicas', 'desiredReplicas']],
]);

const AUTOSCALER = 'HorizontalPodAutoscaler.autoscaling';

/** Of a status that is larger, only what says how it goes: each is kept once a cluster in a binding. */
const LIMIT_CHARACTERS = 16_384;

/** What a large status is cut to. */
const OF_A_LARGE_ONE: readonly string[] = ['observedGeneration', 'phase', 'conditions'];

/**
 * What of an object's status is told to the hub: less than all where the kind is known, or where it is large. Undefined where it has
 * none. What says only that a controller has looked again is left out everywhere: it would be written without end.
 */
export function reflectStatus(object: KubeObject): Status | undefined {
  const { status } = object;
  if (!isJsonObject(status)) return undefined;
  const key = kindKey(object);
  const reflected = withoutClocks(pick(status, REFLECTED.get(key) ?? Object.keys(status)));
  // An autoscaler's words follow its metrics: only what keeps it from its work is told.
  const faults = key === AUTOSCALER ? autoscalerFaults(status).map(withoutClocks) : [];
  if (faults.length > 0) return { ...reflected, conditions: faults };
  if (Object.keys(reflected).length === 0) return undefined;
  return JSON.stringify(reflected).length > LIMIT_CHARACTERS ? pick(reflected, OF_A_LARGE_ONE) : reflected;
}

function pick(status: Status, fields: readonly string[]): Status {
  return Object.fromEntries(
    fields.filter((field) => status[field] !== undefined).map((field) => [field, status[field]]),
  );
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

import { isJsonObject, type KubeObject } from '@asterism/machinery';
import { kindKey } from './kind-key.ts';
import { objectsOf, type Status } from './status-fields.ts';

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
    ['observedGeneration', 'replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
  ],
  ['ReplicaSet.apps', ['observedGeneration', 'replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']],
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

/** When a controller last looked, rather than what it saw. */
const CLOCKS: ReadonlySet<string> = new Set(['lastUpdateTime', 'lastProbeTime', 'lastHeartbeatTime']);

/** What of an object's status is told to the hub: less than all where the kind is known. Undefined where it has none. */
export function reflectStatus(object: KubeObject): Status | undefined {
  const { status } = object;
  if (!isJsonObject(status)) return undefined;
  const fields = REFLECTED.get(kindKey(object)) ?? Object.keys(status);
  const reflected: Record<string, unknown> = {};
  for (const field of fields) {
    if (status[field] === undefined) continue;
    reflected[field] = field === 'conditions' ? objectsOf(status, field).map(withoutClocks) : status[field];
  }
  return Object.keys(reflected).length > 0 ? reflected : undefined;
}

function withoutClocks(condition: Status): Status {
  return Object.fromEntries(Object.entries(condition).filter(([field]) => !CLOCKS.has(field)));
}

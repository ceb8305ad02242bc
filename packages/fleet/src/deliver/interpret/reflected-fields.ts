import type { Status } from './status-fields.ts';

/** By kind, the fields of a status that the hub uses. Metrics and pod addresses would change without end. */
export const REFLECTED_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
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

/** Characters of JSON: a larger status is cut, for each is kept once a cluster in a binding. */
export const STATUS_LIMIT = 8_192;

/** The fields that a large status is cut to. */
export const FIELDS_OF_A_LARGE_STATUS: readonly string[] = ['observedGeneration', 'phase', 'conditions'];

/** The status with those of the fields that it has. */
export function pickFields(status: Status, fields: readonly string[]): Status {
  return Object.fromEntries(
    fields.filter((field) => status[field] !== undefined).map((field) => [field, status[field]]),
  );
}

import type { KubeObject } from '@asterism/machinery';
import type { ManifestStatus } from '../../api/index.ts';
import { kindKey } from './kind-key.ts';
import { conditionOf, fieldsOf, isConditionStale, numberOf, objectsOf, type Status, textOf } from './status-fields.ts';

export type Health = NonNullable<ManifestStatus['health']>;

type Verdict = (object: KubeObject, spec: Status, status: Status) => boolean;

/**
 * Whether an object that stands in a member does what it is for.
 *
 * H1  What is going, and what says itself that its controller has not seen the last change, is at work or got stuck (`Reconciling`,
 *     `Stalled`), is Unhealthy, whatever its kind.
 * H2  The kinds of Kubernetes have rules of their own: Karmada's, and where it has none those of kstatus.
 * H3  Any other kind goes by its condition `Ready`, as in kstatus. Without one it is Healthy by standing there.
 *
 * kstatus is `pkg/kstatus/status` of sigs.k8s.io/cli-utils; what it calls InProgress, Failed and Terminating is Unhealthy here.
 */
export function healthOf(object: KubeObject): Health {
  const status = fieldsOf(object['status']);
  if (object.metadata?.deletionTimestamp || isBehind(object, status) || isAtWork(status)) return 'Unhealthy';
  const verdict = VERDICTS.get(kindKey(object));
  if (!verdict) return readiness(object, status);
  return verdict(object, fieldsOf(object['spec']), status) ? 'Healthy' : 'Unhealthy';
}

/** A kind that says nothing of generations is not behind. */
function isBehind({ metadata }: KubeObject, status: Status): boolean {
  const observed = status['observedGeneration'];
  return typeof observed === 'number' && observed < (metadata?.generation ?? 0);
}

function isAtWork(status: Status): boolean {
  return ['Reconciling', 'Stalled'].some((type) => conditionOf(status, type)?.status === 'True');
}

/** A controller that cannot tell is no reason to take its object for broken. */
function readiness(object: KubeObject, status: Status): Health {
  const ready = conditionOf(status, 'Ready');
  if (!ready) return 'Healthy';
  if (isConditionStale(ready, object.metadata?.generation)) return 'Unhealthy';
  if (ready.status === 'True') return 'Healthy';
  return ready.status === 'False' ? 'Unhealthy' : 'Unknown';
}

const VERDICTS: ReadonlyMap<string, Verdict> = new Map<string, Verdict>([
  ['Deployment.apps', isRolledOut],
  ['StatefulSet.apps', isStatefulSetRolledOut],
  ['ReplicaSet.apps', isReplicaSetAvailable],
  ['DaemonSet.apps', isDaemonSetRolledOut],
  ['Job.batch', isJobOnItsWay],
  ['CronJob.batch', () => true],
  ['Service', (_, spec, status) => spec['type'] !== 'LoadBalancer' || hasAddress(status)],
  ['Ingress.networking.k8s.io', (_, __, status) => hasAddress(status)],
  ['PersistentVolumeClaim', (_, __, status) => status['phase'] === 'Bound'],
  ['PersistentVolume', (_, __, status) => status['phase'] !== 'Failed'],
  ['Pod', (_, __, status) => status['phase'] === 'Succeeded' || isPodReady(status)],
  ['PodDisruptionBudget.policy', isBudgetKept],
  ['HorizontalPodAutoscaler.autoscaling', (_, __, status) => autoscalerFaults(status).length === 0],
  ['Namespace', (_, __, status) => status['phase'] !== 'Terminating'],
  ['CustomResourceDefinition.apiextensions.k8s.io', (_, __, status) => isEstablished(status)],
  ['APIService.apiregistration.k8s.io', (_, __, status) => conditionOf(status, 'Available')?.status === 'True'],
]);

/** The controllers of workloads always say which generation they have seen. */
function isObserved({ metadata }: KubeObject, status: Status): boolean {
  return numberOf(status, 'observedGeneration') >= (metadata?.generation ?? 0);
}

function isRolledOut(object: KubeObject, spec: Status, status: Status): boolean {
  const updated = numberOf(status, 'updatedReplicas');
  return isObserved(object, status) && updated >= wanted(spec) && numberOf(status, 'availableReplicas') >= updated;
}

/** A partition keeps the lower ordinals as they are; with `OnDelete` a person decides when a pod is updated. */
function isStatefulSetRolledOut(object: KubeObject, spec: Status, status: Status): boolean {
  const strategy = fieldsOf(spec['updateStrategy']);
  const partition = numberOf(fieldsOf(strategy['rollingUpdate']), 'partition');
  const toUpdate = isOnDelete(strategy) ? 0 : wanted(spec) - partition;
  const updated = numberOf(status, 'updatedReplicas');
  const available = numberOf(status, 'availableReplicas');
  return isObserved(object, status) && updated >= toUpdate && available >= Math.max(updated, wanted(spec));
}

function isReplicaSetAvailable(object: KubeObject, spec: Status, status: Status): boolean {
  return isObserved(object, status) && numberOf(status, 'availableReplicas') >= wanted(spec);
}

function isDaemonSetRolledOut(object: KubeObject, spec: Status, status: Status): boolean {
  const desired = numberOf(status, 'desiredNumberScheduled');
  const updated = numberOf(status, 'updatedNumberScheduled');
  const toUpdate = isOnDelete(fieldsOf(spec['updateStrategy'])) ? 0 : desired;
  const available = numberOf(status, 'numberAvailable');
  return isObserved(object, status) && updated >= toUpdate && available >= Math.max(updated, desired);
}

function isOnDelete(strategy: Status): boolean {
  return strategy['type'] === 'OnDelete';
}

/** Started and not failed, or suspended: a Job that runs does what it is for. */
function isJobOnItsWay(_: KubeObject, __: Status, status: Status): boolean {
  const holds = (type: string): boolean => conditionOf(status, type)?.status === 'True';
  if (holds('Failed') || holds('FailureTarget')) return false;
  return holds('Complete') || holds('Suspended') || textOf(status, 'startTime') !== undefined;
}

function isBudgetKept(_: KubeObject, __: Status, status: Status): boolean {
  return numberOf(status, 'currentHealthy') >= numberOf(status, 'desiredHealthy');
}

function isEstablished(status: Status): boolean {
  const accepted = conditionOf(status, 'NamesAccepted')?.status !== 'False';
  return accepted && conditionOf(status, 'Established')?.status === 'True';
}

/** The conditions by which an autoscaler says that it cannot do its work. That its target is scaled to nothing is none. */
export function autoscalerFaults(status: Status): Status[] {
  return objectsOf(status, 'conditions').filter(
    ({ type, status: value, reason }) =>
      (type === 'AbleToScale' || type === 'ScalingActive') && value === 'False' && reason !== 'ScalingDisabled',
  );
}

function wanted(spec: Status): number {
  return spec['replicas'] === undefined ? 1 : numberOf(spec, 'replicas');
}

function hasAddress(status: Status): boolean {
  const entries = objectsOf(fieldsOf(status['loadBalancer']), 'ingress');
  return entries.some((entry) => textOf(entry, 'ip') || textOf(entry, 'hostname'));
}

function isPodReady(status: Status): boolean {
  return status['phase'] === 'Running' && conditionOf(status, 'Ready')?.status === 'True';
}

import { isJsonObject, type KubeObject } from '@asterism/machinery';
import type { ManifestStatus } from '../../api/index.ts';
import { kindKey } from './kind-key.ts';
import { conditionOf, numberOf, objectsOf, type Status, textOf } from './status-fields.ts';

export type Health = NonNullable<ManifestStatus['health']>;

type Verdict = (object: KubeObject, spec: Status, status: Status) => boolean;

/** Whether an object that stands in a member does what it is for. A kind without a rule is healthy by standing there. */
export function healthOf(object: KubeObject): Health {
  const verdict = VERDICTS.get(kindKey(object));
  if (!verdict) return 'Healthy';
  return verdict(object, fieldsOf(object['spec']), fieldsOf(object['status'])) ? 'Healthy' : 'Unhealthy';
}

const VERDICTS: ReadonlyMap<string, Verdict> = new Map<string, Verdict>([
  ['Deployment.apps', isRolledOut],
  ['StatefulSet.apps', isRolledOut],
  [
    'ReplicaSet.apps',
    (object, spec, status) => isObserved(object, status) && numberOf(status, 'availableReplicas') >= wanted(spec),
  ],
  ['DaemonSet.apps', isDaemonRolledOut],
  ['Service', (_, spec, status) => spec['type'] !== 'LoadBalancer' || hasAddress(status)],
  ['Ingress.networking.k8s.io', (_, __, status) => hasAddress(status)],
  ['PersistentVolumeClaim', (_, __, status) => status['phase'] === 'Bound'],
  ['Pod', (_, __, status) => status['phase'] === 'Succeeded' || isPodReady(status)],
  [
    'PodDisruptionBudget.policy',
    (_, __, status) => numberOf(status, 'currentHealthy') >= numberOf(status, 'desiredHealthy'),
  ],
]);

/** The controller of the object has seen its last change. */
function isObserved({ metadata }: KubeObject, status: Status): boolean {
  return numberOf(status, 'observedGeneration') >= (metadata?.generation ?? 0);
}

function isRolledOut(object: KubeObject, spec: Status, status: Status): boolean {
  const updated = numberOf(status, 'updatedReplicas');
  return isObserved(object, status) && updated >= wanted(spec) && numberOf(status, 'availableReplicas') >= updated;
}

function isDaemonRolledOut(object: KubeObject, _: Status, status: Status): boolean {
  const updated = numberOf(status, 'updatedNumberScheduled');
  const all = updated >= numberOf(status, 'desiredNumberScheduled');
  return isObserved(object, status) && all && numberOf(status, 'numberAvailable') >= updated;
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

function fieldsOf(value: unknown): Status {
  return isJsonObject(value) ? value : {};
}

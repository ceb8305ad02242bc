import type { KubeObject } from '@asterism/machinery';
import { conditionOf, fieldsOf, numberOf, textOf } from '../status-fields.ts';

/**
 * What `kubectl rollout status` makes of an object, by the rules of `polymorphichelpers/rollout_status.go` of kubectl 1.36: `done`,
 * `waits`, or `failed`.
 */
export function rolloutStatus(object: KubeObject): 'done' | 'waits' | 'failed' {
  const status = fieldsOf(object['status']);
  const spec = fieldsOf(object['spec']);
  if (numberOf(status, 'observedGeneration') < (object.metadata?.generation ?? 0)) return 'waits';
  if (object.kind === 'Deployment') {
    if (conditionOf(status, 'Progressing')?.reason === 'ProgressDeadlineExceeded') return 'failed';
    const updated = numberOf(status, 'updatedReplicas');
    const old = numberOf(status, 'replicas') > updated;
    return updated < numberOf(spec, 'replicas') || old || numberOf(status, 'availableReplicas') < updated
      ? 'waits'
      : 'done';
  }
  if (object.kind === 'DaemonSet') {
    const desired = numberOf(status, 'desiredNumberScheduled');
    const updated = numberOf(status, 'updatedNumberScheduled') >= desired;
    return updated && numberOf(status, 'numberAvailable') >= desired ? 'done' : 'waits';
  }
  if (numberOf(status, 'observedGeneration') === 0 || numberOf(status, 'readyReplicas') < numberOf(spec, 'replicas'))
    return 'waits';
  const rolling = fieldsOf(spec['updateStrategy'])['rollingUpdate'];
  if (rolling !== undefined) {
    const toUpdate = numberOf(spec, 'replicas') - numberOf(fieldsOf(rolling), 'partition');
    return numberOf(status, 'updatedReplicas') < toUpdate ? 'waits' : 'done';
  }
  return textOf(status, 'currentRevision') === textOf(status, 'updateRevision') ? 'done' : 'waits';
}

/** Whether `kubectl wait --for=condition=TYPE` ends, by the rules of `cmd/wait/condition.go` of kubectl 1.36. */
export function isMet(type: string, object: KubeObject): boolean {
  const status = fieldsOf(object['status']);
  const condition = conditionOf(status, type);
  if (!condition) return false;
  const told = typeof status['observedGeneration'] === 'number' ? status['observedGeneration'] : undefined;
  const observed = condition.observedGeneration ?? told;
  if (observed !== undefined && observed < (object.metadata?.generation ?? 0)) return false;
  return condition.status === 'True';
}

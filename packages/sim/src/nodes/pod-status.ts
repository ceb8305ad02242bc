import type { ContainerStatus, Pod, PodCondition, PodStatus } from '@asterism/machinery';

/** The status of a pod whose containers have all started. Times are RFC 3339, in whole seconds. */
export function runningStatus(pod: Pod, address: string, hostAddress: string, now: string): PodStatus {
  const condition = (type: string): PodCondition => ({ type, status: 'True', lastTransitionTime: now });
  const conditions = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(
    condition,
  );
  return {
    ...pod.status,
    phase: 'Running',
    hostIP: hostAddress,
    hostIPs: [{ ip: hostAddress }],
    podIP: address,
    podIPs: [{ ip: address }],
    startTime: now,
    conditions,
    containerStatuses: (pod.spec?.containers ?? []).map(
      ({ name, image }): ContainerStatus => ({
        name,
        image: image ?? '',
        imageID: `simulated://${image}`,
        containerID: `simulated://${pod.metadata?.uid}/${name}`,
        ready: true,
        started: true,
        restartCount: 0,
        state: { running: { startedAt: now } },
      }),
    ),
  };
}

/** The status of a pod that waits for what it mounts. */
export function waitingStatus(pod: Pod, hostAddress: string, now: string): PodStatus {
  const waiting = (type: string): PodCondition => ({
    type,
    status: 'False',
    reason: 'ContainersNotReady',
    lastTransitionTime: now,
  });
  return {
    ...pod.status,
    phase: 'Pending',
    hostIP: hostAddress,
    hostIPs: [{ ip: hostAddress }],
    startTime: now,
    conditions: [
      { type: 'Initialized', status: 'True', lastTransitionTime: now },
      waiting('Ready'),
      waiting('ContainersReady'),
      { type: 'PodScheduled', status: 'True', lastTransitionTime: now },
    ],
    containerStatuses: (pod.spec?.containers ?? []).map(
      ({ name, image }): ContainerStatus => ({
        name,
        image: image ?? '',
        imageID: '',
        ready: false,
        started: false,
        restartCount: 0,
        state: { waiting: { reason: 'ContainerCreating' } },
      }),
    ),
  };
}

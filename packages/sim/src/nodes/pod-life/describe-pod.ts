import {
  type ContainerStatus,
  deepEqual,
  findCondition,
  isConditionTrue,
  type Pod,
  type PodCondition,
  type PodStatus,
} from '@asterism/machinery';
import type { ContainerLife } from './container-life.ts';

/** What is known of a pod on its node. */
export interface PodFacts {
  lives: readonly ContainerLife[];
  /** Its address, once it has one. */
  podIP: string | undefined;
  hostIP: string;
  startTime: string;
  /** All init containers have done their work. */
  initialized: boolean;
  /** It has ended, for good. */
  end: { phase: 'Succeeded' | 'Failed'; reason?: string; message?: string } | undefined;
  now: string;
}

/** The status of a pod as its kubelet tells it. What others wrote into it, and times of what has not changed, are kept. */
export function describePod(pod: Pod, facts: PodFacts): PodStatus {
  const { podIP, hostIP, startTime, end, lives } = facts;
  const of = (...kinds: ContainerLife['kind'][]): ContainerStatus[] =>
    lives.filter(({ kind }) => kinds.includes(kind)).map((life) => containerStatus(life));
  const status: PodStatus = {
    ...pod.status,
    phase: end?.phase ?? (hasStarted(facts) ? 'Running' : 'Pending'),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    startTime: pod.status?.startTime ?? startTime,
    containerStatuses: of('main'),
    conditions: conditionsOf(pod, facts),
  };
  if (podIP) Object.assign(status, { podIP, podIPs: [{ ip: podIP }] });
  if (end?.reason) status.reason = end.reason;
  if (end?.message) status.message = end.message;
  const init = of('init', 'sidecar');
  if (init.length > 0) status.initContainerStatuses = init;
  const ephemeral = of('ephemeral');
  if (ephemeral.length > 0) status.ephemeralContainerStatuses = ephemeral;
  return status;
}

/** Every one of its containers runs or has run. */
function hasStarted({ lives, initialized }: PodFacts): boolean {
  return initialized && lives.every((life) => life.kind !== 'main' || life.running || life.ended !== undefined);
}

function containerStatus(life: ContainerLife): ContainerStatus {
  const { spec, state, lastState, ready, restarts, containerID, kind } = life;
  const image = spec.image ?? '';
  const status: ContainerStatus = {
    name: spec.name,
    state,
    lastState: lastState ?? {},
    ready: kind === 'ephemeral' ? false : ready,
    restartCount: restarts,
    image,
    imageID: containerID === undefined ? '' : `simulated://${image}`,
    started: life.started,
  };
  if (containerID !== undefined) status.containerID = containerID;
  return status;
}

function conditionsOf(pod: Pod, facts: PodFacts): PodCondition[] {
  const own = [
    condition('PodReadyToStartContainers', facts.podIP !== undefined && facts.end === undefined),
    initializedCondition(facts),
    ...readiness(pod, facts),
  ];
  const before = pod.status?.conditions ?? [];
  const scheduled = findCondition(before, 'PodScheduled') ? [] : [condition('PodScheduled', true)];
  const result = [...own, ...scheduled].map((next) => {
    const last = findCondition(before, next.type);
    const lastTransitionTime = last?.status === next.status ? (last.lastTransitionTime ?? facts.now) : facts.now;
    const kept = last && deepEqual({ ...last, ...next, lastTransitionTime }, last) ? last : undefined;
    return kept ?? { ...next, lastTransitionTime };
  });
  return [...result, ...before.filter(({ type }) => !result.some((each) => each.type === type))];
}

function condition(type: string, holds: boolean, reason?: string, message?: string): PodCondition {
  const result: PodCondition = { type, status: holds ? 'True' : 'False' };
  if (reason) result.reason = reason;
  if (message) result.message = message;
  return result;
}

function initializedCondition({ initialized, lives, end }: PodFacts): PodCondition {
  if (initialized) return condition('Initialized', true, end?.phase === 'Succeeded' ? 'PodCompleted' : undefined);
  const open = lives.filter((life) => isOpen(life)).map(({ spec }) => spec.name);
  return condition(
    'Initialized',
    false,
    'ContainersNotInitialized',
    `containers with incomplete status: [${open.join(' ')}]`,
  );
}

function isOpen({ kind, ready, started }: ContainerLife): boolean {
  return (kind === 'init' && !ready) || (kind === 'sidecar' && !started);
}

function readiness(pod: Pod, { lives, end }: PodFacts): PodCondition[] {
  if (end) {
    const reason = end.phase === 'Succeeded' ? 'PodCompleted' : 'PodFailed';
    return [condition('Ready', false, reason), condition('ContainersReady', false, reason)];
  }
  const unready = lives
    .filter(({ kind, ready }) => (kind === 'main' || kind === 'sidecar') && !ready)
    .map(({ spec }) => spec.name);
  if (unready.length > 0) {
    const why = ['ContainersNotReady', `containers with unready status: [${unready.join(' ')}]`] as const;
    return [condition('Ready', false, ...why), condition('ContainersReady', false, ...why)];
  }
  const closed = (pod.spec?.readinessGates ?? []).flatMap(({ conditionType }) => {
    const gate = findCondition(pod.status?.conditions, conditionType);
    if (isConditionTrue(pod.status?.conditions, conditionType)) return [];
    return gate
      ? [`the status of pod readiness gate "${conditionType}" is not "True", but ${gate.status}`]
      : [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
  });
  const ready = closed.length === 0;
  const why = ready ? [] : (['ReadinessGatesNotReady', closed.join(', ')] as const);
  return [condition('Ready', ready, ...why), condition('ContainersReady', true)];
}

import { deepEqual, findCondition, formatTime, setCondition } from '@asterism/machinery';
import { type Cluster, NOT_READY_TAINT, type Taint, UNREACHABLE_TAINT } from '../../api/index.ts';
import { isWithoutAgent } from '../direct/is-without-agent.ts';

/** When the hub itself saw a cluster's Lease change. The Lease's own time is of another clock, so it only tells changes apart. */
export interface Heartbeat {
  /** `renewTime` as it was last seen. */
  renewTime: string | undefined;
  /** Since when it is that, in attended time, ms. */
  since: number;
  /** Whether a change was seen by this run of the hub: the first sight of a Lease proves nothing. */
  beating: boolean;
}

/** What is known of a heartbeat after another look at the Lease. A hub that just started knows nothing (H1). */
export function observeHeartbeat(
  before: Heartbeat | undefined,
  renewTime: string | undefined,
  attendedMs: number,
): Heartbeat {
  if (!before) return { renewTime, since: attendedMs, beating: false };
  return before.renewTime === renewTime ? before : { renewTime, since: attendedMs, beating: true };
}

/**
 * - `Alive`: the Lease changes.
 * - `Undecided`: no change was seen yet, and the time that silence needs is not over either: everything stays as it is.
 * - `Silent`: no change for longer than the timeout.
 */
export type Pulse = { state: 'Alive' | 'Undecided'; checkInMs: number } | { state: 'Silent'; forMs: number };

/**
 * Tells a silent cluster. The timeout runs in attended time, from what *this* run of the hub saw: so its own absence, a freeze
 * of it, or one of its store is never held against a cluster (H1).
 */
export function decidePulse({ since, beating }: Heartbeat, timeoutMs: number, attendedMs: number): Pulse {
  const forMs = attendedMs - since;
  if (forMs >= timeoutMs) return { state: 'Silent', forMs };
  return { state: beating ? 'Alive' : 'Undecided', checkInMs: timeoutMs - forMs };
}

/** One look at a Lease: what it says, and what to remember until the next look. */
export function takePulse(
  before: Heartbeat | undefined,
  renewTime: string | undefined,
  timeoutMs: number,
  attendedMs: number,
): { heartbeat: Heartbeat; pulse: Pulse } {
  const heartbeat = observeHeartbeat(before, renewTime, attendedMs);
  return { heartbeat, pulse: decidePulse(heartbeat, timeoutMs, attendedMs) };
}

const HUB_TAINTS: readonly string[] = [UNREACHABLE_TAINT, NOT_READY_TAINT];

/**
 * The taints that a cluster should have: the hub's own follow from pulse and readiness, all others stay. A taint that stays
 * keeps its `timeAdded`.
 */
export function healthTaints(cluster: Cluster, pulse: Pulse, now: number): Taint[] {
  const before = cluster.spec.taints ?? [];
  const ready = findCondition(cluster.status?.conditions, 'Ready')?.status;
  if (pulse.state === 'Undecided') return before;
  const key = pulse.state === 'Silent' ? UNREACHABLE_TAINT : ready === 'False' ? NOT_READY_TAINT : undefined;
  const others = before.filter((taint) => !HUB_TAINTS.includes(taint.key));
  if (key === undefined) return others;
  const kept = before.find((taint) => taint.key === key && taint.effect === 'NoSchedule');
  return [...others, kept ?? { key, effect: 'NoSchedule', timeAdded: formatTime(now) }];
}

type Conditions = NonNullable<NonNullable<Cluster['status']>['conditions']>;

/** The conditions that a cluster should have. `Ready` is the agent's to say, until it says nothing any more. */
export function healthConditions(cluster: Cluster, pulse: Pulse, now: number): Conditions {
  const before = cluster.status?.conditions ?? [];
  if (pulse.state !== 'Silent' || findCondition(before, 'Ready')?.status === 'Unknown') return before;
  const condition = { type: 'Ready', status: 'Unknown' as const, ...silenceOf(cluster) };
  return setCondition(before, condition, formatTime(now));
}

/** Who is silent, and since the beginning or not. */
function silenceOf(cluster: Cluster): { reason: string; message: string } {
  if (isWithoutAgent(cluster)) {
    const message = 'the hub gets no answer from its API server: that, or the way there, is down';
    return { reason: 'ClusterUnreachable', message };
  }
  if (findCondition(cluster.status?.conditions, 'Ready') === undefined) {
    return { reason: 'AgentNeverSeen', message: 'the agent never renewed its Lease: is it running?' };
  }
  const message = 'the agent stopped renewing its Lease: it, its cluster or the way from there to the hub is down';
  return { reason: 'AgentSilent', message };
}

/** The cluster as it should be, or undefined where it is so already. */
export function clusterHealth(cluster: Cluster, pulse: Pulse, now: number): { spec?: Cluster; status?: Cluster } {
  const taints = healthTaints(cluster, pulse, now);
  const conditions = healthConditions(cluster, pulse, now);
  return {
    ...(deepEqual(taints, cluster.spec.taints ?? [])
      ? {}
      : { spec: { ...cluster, spec: { ...cluster.spec, taints } } }),
    ...(deepEqual(conditions, cluster.status?.conditions ?? [])
      ? {}
      : { status: { ...cluster, status: { ...cluster.status, conditions } } }),
  };
}

import { deepEqual } from '@asterism/machinery';
import type { Cluster } from '../../api/index.ts';
import { readAmounts } from '../../capacity/index.ts';

type Status = NonNullable<Cluster['status']>;

/**
 * - `none`: nothing to write.
 * - `step`: figures alone, none of them by enough to change what anybody would decide.
 * - `figures`: figures alone.
 * - `facts`: something that people or controllers wait for.
 */
export type StatusChange = 'none' | 'step' | 'figures' | 'facts';

/** Of what the cluster has. Smaller changes go with the next write. */
const STEP = 0.01;
/** A round trip that is so many times another. */
const ROUND_TRIP_STEP = 1.5;
/** Round trips differ by so many ms for no reason, and by as many because an end is busy: to tell of that would keep it so. */
const ROUND_TRIP_NOISE_MS = 20;

/** How much it matters that a status is not `before` but `after`. */
export function statusChange(before: Status, after: Status): StatusChange {
  if (!deepEqual(factsOf(before), factsOf(after))) return 'facts';
  if (figuresStep(before, after) || podsStep(before, after) || roundTripStep(before, after)) return 'figures';
  return deepEqual(before, after) ? 'none' : 'step';
}

/** All but the figures that change with each pod, and what follows from them. */
function factsOf({ tunnel, resources, nodeCapacity, ...status }: Status): object {
  const { capacity, allocatable } = resources ?? {};
  const pools = nodeCapacity?.pools.map(({ labels, taints, nodes }) => ({ labels, taints, nodes }));
  const facts = { ...status, capacity, allocatable, pools, labels: nodeCapacity?.labels, tunnel: tunnel !== undefined };
  return { ...facts, glance: undefined, pods: undefined };
}

function figuresStep(before: Status, after: Status): boolean {
  return (['allocated', 'requested'] as const).some((sum) => {
    const [old, now] = [readAmounts(before.resources?.[sum]), readAmounts(after.resources?.[sum])];
    const all = readAmounts(after.resources?.allocatable);
    return [...new Set([...Object.keys(old), ...Object.keys(now)])].some((name) =>
      isStep(old[name] ?? 0, now[name] ?? 0, all[name] ?? 0),
    );
  });
}

function podsStep({ pods: before }: Status, { pods: after }: Status): boolean {
  if (!before || !after) return before !== after;
  return (['running', 'pending', 'max'] as const).some((phase) =>
    isStep(before[phase] ?? 0, after[phase] ?? 0, after.max ?? 0),
  );
}

/** Something where nothing was counts always, as does the contrary. */
function isStep(before: number, after: number, all: number): boolean {
  if (before === after) return false;
  return before === 0 || after === 0 || Math.abs(after - before) >= all * STEP;
}

function roundTripStep({ tunnel: before }: Status, { tunnel: after }: Status): boolean {
  if (!before || !after) return false;
  const [short, long] = [before.roundTripMilliseconds, after.roundTripMilliseconds].sort((a, b) => a - b) as [
    number,
    number,
  ];
  return long - short >= ROUND_TRIP_NOISE_MS && long >= short * ROUND_TRIP_STEP;
}

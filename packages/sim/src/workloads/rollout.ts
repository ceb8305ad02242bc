/** How many pods one ReplicaSet of a Deployment is to have, and has. */
export interface ReplicaSetCount {
  name: string;
  /** `spec.replicas`. */
  replicas: number;
  /** `status.availableReplicas`. */
  available: number;
}

export interface RolloutStrategy {
  type: 'RollingUpdate' | 'Recreate';
  maxSurge: number;
  maxUnavailable: number;
}

/**
 * The sizes of a Deployment's ReplicaSets at the next step of its rollout.
 *
 * R1. Never more than `desired + maxSurge` in all, never fewer than `desired - maxUnavailable` available by our doing.
 * R2. Old pods that are not available go first; they serve nobody.
 * R3. Recreate: the new one grows only when the old ones are gone (`oldPodsLeft`).
 */
export function nextSizes(
  desired: number,
  current: ReplicaSetCount,
  old: readonly ReplicaSetCount[],
  strategy: RolloutStrategy,
  oldPodsLeft: boolean,
): Map<string, number> {
  const sizes = new Map<string, number>([
    [current.name, current.replicas],
    ...old.map((set) => [set.name, set.replicas] as const),
  ]);
  if (strategy.type === 'Recreate') {
    for (const set of old) sizes.set(set.name, 0);
    if (!oldPodsLeft) sizes.set(current.name, desired);
    return sizes;
  }
  const oldTotal = old.reduce((sum, set) => sum + set.replicas, 0);
  sizes.set(current.name, grow(desired, current.replicas, oldTotal, strategy.maxSurge));
  shrink(sizes, desired, current, old, strategy);
  return sizes;
}

function grow(desired: number, replicas: number, oldTotal: number, maxSurge: number): number {
  if (replicas >= desired) return desired;
  const room = desired + maxSurge - replicas - oldTotal;
  return Math.max(replicas, Math.min(desired, replicas + room));
}

function shrink(
  sizes: Map<string, number>,
  desired: number,
  current: ReplicaSetCount,
  old: readonly ReplicaSetCount[],
  strategy: RolloutStrategy,
): void {
  const minAvailable = desired - strategy.maxUnavailable;
  const available = Math.min(current.available, desired) + old.reduce((sum, set) => sum + set.available, 0);
  let spare = Math.max(0, available - minAvailable);
  for (const set of old) {
    const unavailable = Math.max(0, set.replicas - set.available);
    const serving = set.replicas - unavailable;
    const given = Math.min(serving, spare);
    spare -= given;
    sizes.set(set.name, serving - given);
  }
}

/**
 * The sizes when only the number of replicas changes while more than one ReplicaSet has pods: each keeps its share of
 * `total`. What rounding leaves goes to the largest, by name among equals.
 */
export function proportionalSizes(total: number, sets: readonly ReplicaSetCount[]): Map<string, number> {
  const before = sets.reduce((sum, { replicas }) => sum + replicas, 0);
  const sizes = new Map(sets.map(({ name, replicas }) => [name, Math.floor((replicas * total) / Math.max(1, before))]));
  const left = total - [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const [largest] = sets.toSorted((a, b) => b.replicas - a.replicas || a.name.localeCompare(b.name));
  if (largest !== undefined) sizes.set(largest.name, (sizes.get(largest.name) ?? 0) + left);
  return sizes;
}

/** `25%` or a number of pods; a percentage rounds up for surge and down for unavailable, as upstream. */
export function podsOf(value: number | string | undefined, total: number, round: 'up' | 'down'): number {
  if (value === undefined) return podsOf('25%', total, round);
  if (typeof value === 'number') return value;
  const share = (Number.parseInt(value, 10) * total) / 100;
  return round === 'up' ? Math.ceil(share) : Math.floor(share);
}

/** Both limits of a rolling update. Two zeros would never end, so one pod may then be missing. */
export function rollingLimits(
  desired: number,
  strategy: { maxSurge?: number | string; maxUnavailable?: number | string } = {},
): { maxSurge: number; maxUnavailable: number } {
  const maxSurge = podsOf(strategy.maxSurge, desired, 'up');
  const maxUnavailable = podsOf(strategy.maxUnavailable, desired, 'down');
  return { maxSurge, maxUnavailable: maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable };
}

import type { Cluster } from '../api/index.ts';
import { byName } from '../template/tie-break.ts';

/** A cluster that passed every filter, with what the choice among such clusters goes by. */
export interface Candidate {
  name: string;
  cluster: Cluster;
  /** 0, or which of the affinity's overflow groups it comes from, from 1 on. */
  tier: number;
  /** {@link TARGET_SCORE} where the template stands there already, else 0. */
  score: number;
  /** Replicas of the last result. */
  assigned: number;
  /** How many replicas more it can hold; {@link UNLIMITED} where there is nothing to count. */
  allocatable: number;
  /** All that it can hold of this template: `assigned` and `allocatable`. */
  available: number;
}

/** What makes a template stay where it is. */
export const TARGET_SCORE = 100;

/** The estimate for a template without replicas: sums of it stay exact. */
export const UNLIMITED = 2 ** 31 - 1;

/** The order in which candidates are taken: nearer tiers, then those that have it already, then the roomiest, then by name. */
export function inCandidateOrder(candidates: readonly Candidate[]): Candidate[] {
  return candidates.toSorted(
    (a, b) => a.tier - b.tier || b.score - a.score || b.available - a.available || byName(a.name, b.name),
  );
}

/** That order, as a reason for those that come after the last one taken. */
export const TAKEN_BEFORE = 'others have it already, have more room or come first by name';

export function totalAvailable(candidates: readonly Candidate[]): number {
  return candidates.reduce((sum, { available }) => sum + available, 0);
}

export function roomiestFirst(candidates: readonly Candidate[]): Candidate[] {
  return candidates.toSorted((a, b) => b.available - a.available);
}

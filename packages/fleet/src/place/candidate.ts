import type { Cluster } from '../api/index.ts';
import { byName } from './tie-break.ts';

/** A cluster that passed every filter, with what the choice among such clusters goes by. */
export interface Candidate {
  name: string;
  cluster: Cluster;
  /** {@link TARGET_SCORE} where the template stands there already, else 0. */
  score: number;
  /** Replicas of the last result. */
  assigned: number;
  /** How many replicas more it can hold; {@link UNLIMITED} where there is nothing to count. */
  allocatable: number;
}

/** What makes a template stay where it is. */
export const TARGET_SCORE = 100;

/** The estimate for a template without replicas: sums of it stay exact. */
export const UNLIMITED = 2 ** 31 - 1;

/** All that the cluster can hold of this template: what it has of it and what may come. */
export function availableOf({ assigned, allocatable }: Candidate): number {
  return assigned + allocatable;
}

/** The order in which candidates are taken: those that have it already, then the roomiest, then by name. */
export function inCandidateOrder(candidates: readonly Candidate[]): Candidate[] {
  return candidates.toSorted((a, b) => b.score - a.score || availableOf(b) - availableOf(a) || byName(a.name, b.name));
}

export function totalAvailable(candidates: readonly Candidate[]): number {
  return candidates.reduce((sum, candidate) => sum + availableOf(candidate), 0);
}

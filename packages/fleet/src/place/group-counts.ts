import type { Grouping } from './spread-constraint.ts';

/** How many of what is chosen so far are in each group, for each of several groupings: what their bounds still let in. */
export class GroupCounts {
  readonly #groupings: readonly Grouping[];
  /** By grouping, then by group; a group in which nothing is has no entry. */
  readonly #counts: readonly Map<string, number>[];

  constructor(groupings: readonly Grouping[]) {
    this.#groupings = groupings;
    this.#counts = groupings.map(() => new Map());
  }

  /** @param groups - what is chosen is in, one for each grouping; here and below */
  enter(groups: readonly string[]): void {
    for (const [index, counts] of this.#counts.entries()) {
      const group = groups[index] ?? '';
      counts.set(group, (counts.get(group) ?? 0) + 1);
    }
  }

  leave(groups: readonly string[]): void {
    for (const [index, counts] of this.#counts.entries()) {
      const group = groups[index] ?? '';
      const left = (counts.get(group) ?? 0) - 1;
      if (left > 0) counts.set(group, left);
      else counts.delete(group);
    }
  }

  /** Whether no maximum keeps it out. */
  admits(groups: readonly string[]): boolean {
    return this.#counts.every(
      (counts, index) => counts.size < (this.#groupings[index]?.maxGroups ?? 0) || counts.has(groups[index] ?? ''),
    );
  }

  /** Whether every minimum is met; with `groups` in addition, where they are given. */
  meetsMinima(groups?: readonly string[]): boolean {
    return this.#groupings.every(
      ({ minGroups }, index) => this.groupsIn(index) + (groups && this.#isNew(groups, index) ? 1 : 0) >= minGroups,
    );
  }

  /** To how many minima that are not met yet it brings a group more. */
  gainOf(groups: readonly string[]): number {
    return this.#groupings.filter(
      ({ minGroups }, index) => this.groupsIn(index) < minGroups && this.#isNew(groups, index),
    ).length;
  }

  /** How many groups of one grouping something is in. */
  groupsIn(index: number): number {
    return this.#counts[index]?.size ?? 0;
  }

  #isNew(groups: readonly string[], index: number): boolean {
    return !this.#counts[index]?.has(groups[index] ?? '');
  }
}

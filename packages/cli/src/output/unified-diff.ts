import { shortestMatches, unifiedHunks } from '@asterism/machinery';

export interface DiffSide {
  /** Behind `---` or `+++`. */
  name: string;
  /** Undefined where there is nothing: `/dev/null`. */
  lines: readonly string[] | undefined;
}

/** A unified diff, as `diff -u` prints it; empty where both sides are the same. */
export function unifiedDiff(before: DiffSide, after: DiffSide): string {
  const hunks = unifiedHunks(before.lines ?? [], after.lines ?? [], shortestMatches);
  if (hunks === '') return '';
  const name = (side: DiffSide) => (side.lines === undefined ? '/dev/null' : side.name);
  return `--- ${name(before)}\n+++ ${name(after)}\n${hunks}`;
}

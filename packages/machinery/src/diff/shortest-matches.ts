import type { Match } from './match.ts';

/** Beyond so many changed lines the shortest script is not worth its time: everything between the equal ends counts as changed. */
const MOST_EDITS = 1_000;

/** Finds runs of equal lines so that as few lines as possible change; it takes bounded time. */
export function shortestMatches(old: readonly string[], now: readonly string[]): Match[] {
  const shorter = Math.min(old.length, now.length);
  let head = 0;
  while (head < shorter && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
  const between = shortestScript(old.slice(head, old.length - tail), now.slice(head, now.length - tail));
  return [
    { start: 0, newStart: 0, length: head },
    ...between.map(({ start, newStart, length }) => ({ start: head + start, newStart: head + newStart, length })),
    { start: old.length - tail, newStart: now.length - tail, length: tail },
  ].filter(({ length }) => length > 0);
}

/** Myers, "An O(ND) Difference Algorithm and Its Variations" (1986), the greedy one: furthest points by diagonal, for each number of edits. */
function shortestScript(old: readonly string[], now: readonly string[]): Match[] {
  const furthest = new Map<number, number>([[1, 0]]);
  const rounds: ReadonlyMap<number, number>[] = [];
  const most = Math.min(old.length + now.length, MOST_EDITS);
  for (let edits = 0; edits <= most; edits += 1) {
    rounds.push(new Map(furthest));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = startOf(furthest, diagonal, edits);
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) x += 1;
      furthest.set(diagonal, x);
      if (x >= old.length && x - diagonal >= now.length) return traceBack(rounds, old.length, now.length);
    }
  }
  return [];
}

/** Where a diagonal starts: an added line leads to it from above, a removed line from the left. */
function startOf(furthest: ReadonlyMap<number, number>, diagonal: number, edits: number): number {
  return isAddition(furthest, diagonal, edits)
    ? (furthest.get(diagonal + 1) ?? 0)
    : (furthest.get(diagonal - 1) ?? 0) + 1;
}

function isAddition(furthest: ReadonlyMap<number, number>, diagonal: number, edits: number): boolean {
  if (diagonal === -edits) return true;
  return diagonal !== edits && (furthest.get(diagonal - 1) ?? -1) < (furthest.get(diagonal + 1) ?? -1);
}

function traceBack(rounds: readonly ReadonlyMap<number, number>[], x: number, y: number): Match[] {
  const matches: Match[] = [];
  for (let edits = rounds.length - 1; edits >= 0; edits -= 1) {
    const furthest = rounds[edits] ?? new Map<number, number>();
    const diagonal = x - y;
    const start = edits === 0 ? 0 : startOf(furthest, diagonal, edits);
    if (x > start) matches.push({ start, newStart: start - diagonal, length: x - start });
    const isAdded = isAddition(furthest, diagonal, edits);
    x = isAdded ? start : start - 1;
    y = start - diagonal - (isAdded ? 1 : 0);
  }
  return matches.reverse();
}

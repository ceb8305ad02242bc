import type { Match, Matcher } from './match.ts';

/** Lines around a change. */
const CONTEXT = 3;

type Change = { tag: 'equal' | 'change'; from: number; to: number; newFrom: number; newTo: number };

/** Returns the hunks of a unified diff, as `diff -u` prints them; empty for equal texts. */
export function unifiedHunks(old: readonly string[], now: readonly string[], matcher: Matcher): string {
  return hunksOf(changesBetween(old, now, matcher(old, now)))
    .map((hunk) => formatHunk(hunk, old, now))
    .join('');
}

/** Returns runs of equal lines, and the changes between them. */
function changesBetween(old: readonly string[], now: readonly string[], matches: readonly Match[]): Change[] {
  const changes: Change[] = [];
  let from = 0;
  let newFrom = 0;
  const ends = { start: old.length, newStart: now.length, length: 0 };
  for (const { start, newStart, length } of [...joinAdjacent(matches), ends]) {
    if (from < start || newFrom < newStart) changes.push({ tag: 'change', from, to: start, newFrom, newTo: newStart });
    from = start + length;
    newFrom = newStart + length;
    if (length > 0) changes.push({ tag: 'equal', from: start, to: from, newFrom: newStart, newTo: newFrom });
  }
  return changes;
}

function joinAdjacent(matches: readonly Match[]): Match[] {
  const joined: Match[] = [];
  for (const match of matches) {
    const last = joined.at(-1);
    const follows = last && last.start + last.length === match.start && last.newStart + last.length === match.newStart;
    if (follows) last.length += match.length;
    else joined.push({ ...match });
  }
  return joined;
}

/** Returns changes with the lines around them; changes that are close together are one hunk. */
function hunksOf(changes: readonly Change[]): Change[][] {
  const hunks: Change[][] = [];
  let hunk: Change[] = [];
  for (const [index, change] of changes.entries()) {
    if (change.tag === 'change') {
      hunk.push(change);
      continue;
    }
    const { from, to, newFrom, newTo } = change;
    const isLast = index === changes.length - 1;
    const head = { ...change, to: Math.min(to, from + CONTEXT), newTo: Math.min(newTo, newFrom + CONTEXT) };
    const tail = { ...change, from: Math.max(from, to - CONTEXT), newFrom: Math.max(newFrom, newTo - CONTEXT) };
    if (index === 0) hunk.push(tail);
    else if (isLast) hunk.push(head);
    else if (to - from > 2 * CONTEXT) {
      hunks.push([...hunk, head]);
      hunk = [tail];
    } else hunk.push(change);
  }
  if (hunk.some(({ tag }) => tag === 'change')) hunks.push(hunk);
  return hunks;
}

function formatHunk(hunk: readonly Change[], old: readonly string[], now: readonly string[]): string {
  const first = hunk[0];
  const last = hunk.at(-1);
  if (!first || !last) return '';
  const lines = hunk.flatMap(({ tag, from, to, newFrom, newTo }) =>
    tag === 'equal'
      ? old.slice(from, to).map((line) => ` ${line}`)
      : [...old.slice(from, to).map((line) => `-${line}`), ...now.slice(newFrom, newTo).map((line) => `+${line}`)],
  );
  const header = `@@ -${range(first.from, last.to)} +${range(first.newFrom, last.newTo)} @@`;
  return `${[header, ...lines].join('\n')}\n`;
}

/** Lines are counted from 1; a range of one line has no length. */
function range(from: number, to: number): string {
  const length = to - from;
  if (length === 1) return `${from + 1}`;
  return `${length === 0 ? from : from + 1},${length}`;
}

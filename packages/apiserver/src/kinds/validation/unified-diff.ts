import { deepEqual } from '@asterism/machinery';
import { countValues } from '../../registry/value-limit.ts';

/** Values of both together up to which changes are looked for: it takes time by their number squared. */
const MOST_COMPARED = 3_000;
/** Lines around a change. */
const CONTEXT = 3;
/** From so many lines on, those that are more than a hundredth of all are no anchor. */
const MANY_LINES = 200;

type Change = { tag: 'equal' | 'change'; from: number; to: number; newFrom: number; newTo: number };

/**
 * What differs between two values, as `diff.Diff` of apimachinery tells it: the hunks of a unified diff of their indented
 * JSON, found as Python's difflib finds them. Of large values it says only that they differ; of the same it says nothing.
 */
export function unifiedDiff(before: unknown, after: unknown): string {
  const values = countValues(before, MOST_COMPARED) + countValues(after, MOST_COMPARED);
  if (values > MOST_COMPARED)
    return deepEqual(before, after) ? '' : `more than ${MOST_COMPARED} values are too many to show the changes\n`;
  const old = JSON.stringify(before, null, 1).split('\n');
  const now = JSON.stringify(after, null, 1).split('\n');
  return hunksOf(changesBetween(old, now))
    .map((hunk) => formatHunk(hunk, old, now))
    .join('');
}

/** Runs of lines that are the same, and the changes between them. */
function changesBetween(old: readonly string[], now: readonly string[]): Change[] {
  const changes: Change[] = [];
  let from = 0;
  let newFrom = 0;
  const ends = { start: old.length, newStart: now.length, length: 0 };
  for (const { start, newStart, length } of [...matchingBlocks(old, now), ends]) {
    if (from < start || newFrom < newStart) changes.push({ tag: 'change', from, to: start, newFrom, newTo: newStart });
    from = start + length;
    newFrom = newStart + length;
    if (length > 0) changes.push({ tag: 'equal', from: start, to: from, newFrom: newStart, newTo: newFrom });
  }
  return changes;
}

interface Block {
  start: number;
  newStart: number;
  length: number;
}

function matchingBlocks(old: readonly string[], now: readonly string[]): Block[] {
  const places = new Map<string, number[]>();
  for (const [index, line] of now.entries()) {
    const known = places.get(line);
    if (known) known.push(index);
    else places.set(line, [index]);
  }
  if (now.length >= MANY_LINES) {
    const most = Math.floor(now.length / 100) + 1;
    for (const [line, found] of places) if (found.length > most) places.delete(line);
  }
  const blocks: Block[] = [];
  const open = [{ from: 0, to: old.length, newFrom: 0, newTo: now.length }];
  for (let range = open.pop(); range; range = open.pop()) {
    const block = longestMatch(old, now, places, range);
    const { start, newStart, length } = block;
    if (length === 0) continue;
    blocks.push(block);
    open.push({ from: range.from, to: start, newFrom: range.newFrom, newTo: newStart });
    open.push({ from: start + length, to: range.to, newFrom: newStart + length, newTo: range.newTo });
  }
  return joinAdjacent(blocks.sort((a, b) => a.start - b.start));
}

function joinAdjacent(blocks: readonly Block[]): Block[] {
  const joined: Block[] = [];
  for (const block of blocks) {
    const last = joined.at(-1);
    const follows = last && last.start + last.length === block.start && last.newStart + last.length === block.newStart;
    if (follows) last.length += block.length;
    else joined.push({ ...block });
  }
  return joined;
}

/** The longest run that both have in their ranges, of several the first; then as far as lines that are no anchor agree. */
function longestMatch(
  old: readonly string[],
  now: readonly string[],
  places: ReadonlyMap<string, readonly number[]>,
  { from, to, newFrom, newTo }: { from: number; to: number; newFrom: number; newTo: number },
): Block {
  let best = { start: from, newStart: newFrom, length: 0 };
  let lengths = new Map<number, number>();
  for (let index = from; index < to; index += 1) {
    const next = new Map<number, number>();
    for (const place of places.get(old[index] ?? '') ?? []) {
      if (place < newFrom) continue;
      if (place >= newTo) break;
      const length = (lengths.get(place - 1) ?? 0) + 1;
      next.set(place, length);
      if (length > best.length) best = { start: index - length + 1, newStart: place - length + 1, length };
    }
    lengths = next;
  }
  let { start, newStart, length } = best;
  while (start > from && newStart > newFrom && old[start - 1] === now[newStart - 1]) {
    start -= 1;
    newStart -= 1;
    length += 1;
  }
  while (start + length < to && newStart + length < newTo && old[start + length] === now[newStart + length]) {
    length += 1;
  }
  return { start, newStart, length };
}

/** Changes with a few lines around them; those that are close together are one. */
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

/** Lines are counted from 1; a range of one line is told without its length. */
function range(from: number, to: number): string {
  const length = to - from;
  if (length === 1) return `${from + 1}`;
  return `${length === 0 ? from : from + 1},${length}`;
}

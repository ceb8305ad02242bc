/** Lines around a change. */
const CONTEXT = 3;
/** Beyond so many changed lines the shortest script is not worth its time: the changed part is told as a whole. */
const MOST_EDITS = 1_000;

export interface DiffSide {
  /** Behind `---` or `+++`. */
  name: string;
  /** Undefined where there is nothing: `/dev/null`. */
  lines: readonly string[] | undefined;
}

/** One line of an edit script: kept, taken away, or added. */
interface Edit {
  sign: ' ' | '-' | '+';
  line: string;
}

/** A unified diff, as `diff -u` prints it; empty where both sides are the same. */
export function unifiedDiff(before: DiffSide, after: DiffSide): string {
  const edits = editScript(before.lines ?? [], after.lines ?? []);
  const hunks = hunksOf(edits);
  if (hunks.length === 0) return '';
  const name = (side: DiffSide) => (side.lines === undefined ? '/dev/null' : side.name);
  return `--- ${name(before)}\n+++ ${name(after)}\n${hunks.map((hunk) => formatHunk(hunk, edits)).join('')}`;
}

function editScript(before: readonly string[], after: readonly string[]): Edit[] {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  const kept = (line: string): Edit => ({ sign: ' ', line });
  return [
    ...before.slice(0, head).map(kept),
    ...shortestScript(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(kept),
  ];
}

/** Myers, "An O(ND) Difference Algorithm and Its Variations" (1986), the greedy one: furthest points by diagonal, for each number of edits. */
function shortestScript(before: readonly string[], after: readonly string[]): Edit[] {
  const furthest = new Map<number, number>([[1, 0]]);
  const rounds: ReadonlyMap<number, number>[] = [];
  const most = Math.min(before.length + after.length, MOST_EDITS);
  for (let edits = 0; edits <= most; edits += 1) {
    rounds.push(new Map(furthest));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = startOf(furthest, diagonal, edits);
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x += 1;
      furthest.set(diagonal, x);
      if (x >= before.length && x - diagonal >= after.length) return traceBack(rounds, before, after);
    }
  }
  const removed = before.map((line): Edit => ({ sign: '-', line }));
  return [...removed, ...after.map((line): Edit => ({ sign: '+', line }))];
}

/** Where a diagonal is entered: from above by an added line, or from the left by one taken away. */
function startOf(furthest: ReadonlyMap<number, number>, diagonal: number, edits: number): number {
  return isAddition(furthest, diagonal, edits)
    ? (furthest.get(diagonal + 1) ?? 0)
    : (furthest.get(diagonal - 1) ?? 0) + 1;
}

function isAddition(furthest: ReadonlyMap<number, number>, diagonal: number, edits: number): boolean {
  if (diagonal === -edits) return true;
  return diagonal !== edits && (furthest.get(diagonal - 1) ?? -1) < (furthest.get(diagonal + 1) ?? -1);
}

function traceBack(
  rounds: readonly ReadonlyMap<number, number>[],
  before: readonly string[],
  after: readonly string[],
): Edit[] {
  const edits: Edit[] = [];
  let x = before.length;
  let y = after.length;
  for (let count = rounds.length - 1; count >= 0; count -= 1) {
    const furthest = rounds[count] ?? new Map<number, number>();
    const diagonal = x - y;
    const start = count === 0 ? 0 : startOf(furthest, diagonal, count);
    for (; x > start; x -= 1, y -= 1) edits.push({ sign: ' ', line: before[x - 1] ?? '' });
    if (count === 0) break;
    if (isAddition(furthest, diagonal, count)) {
      y -= 1;
      edits.push({ sign: '+', line: after[y] ?? '' });
    } else {
      x -= 1;
      edits.push({ sign: '-', line: before[x] ?? '' });
    }
  }
  return edits.reverse();
}

interface Hunk {
  from: number;
  to: number;
}

/** Changes with the lines around them; what would touch is one. */
function hunksOf(edits: readonly Edit[]): Hunk[] {
  const hunks: Hunk[] = [];
  for (const [index, { sign }] of edits.entries()) {
    if (sign === ' ') continue;
    const last = hunks.at(-1);
    const to = Math.min(edits.length, index + 1 + CONTEXT);
    if (last && index - CONTEXT <= last.to) last.to = to;
    else hunks.push({ from: Math.max(0, index - CONTEXT), to });
  }
  return hunks;
}

function formatHunk({ from, to }: Hunk, edits: readonly Edit[]): string {
  const lines = edits.slice(from, to);
  const range = (other: Edit['sign']): string => {
    const start = edits.slice(0, from).filter(({ sign }) => sign !== other).length;
    const length = lines.filter(({ sign }) => sign !== other).length;
    if (length === 1) return String(start + 1);
    return `${length === 0 ? start : start + 1},${length}`;
  };
  const body = lines.map(({ sign, line }) => `${sign}${line}\n`).join('');
  return `@@ -${range('+')} +${range('-')} @@\n${body}`;
}

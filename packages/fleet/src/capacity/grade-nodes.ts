/** So many nodes that have at least so much free. */
export interface Grade {
  nodes: number;
  /** By column. */
  free: number[];
}

interface Group {
  pool: number;
  members: Uint32Array;
  /** The best way to part it; undefined where all members are alike. */
  cut: Cut | undefined;
}

interface Cut {
  /** What the figures gain by it: in nodes, each weighed by what it has more, of the most that any of them has. */
  gain: number;
  low: Uint32Array;
  high: Uint32Array;
}

/**
 * Sorts nodes into grades by what is free on them (`columns[resource][node]`), those of different pools apart. Begins with one
 * grade a pool and parts, again and again, the one where that tells most: where the most falls between what its nodes have
 * and what the least of them has.
 *
 * The cost is that of sorting the nodes by each column once for each part that they pass.
 */
export function gradeNodes(
  columns: readonly Float64Array[],
  pools: readonly Uint32Array[],
  most: number,
): readonly Grade[][] {
  const group = (pool: number, members: Uint32Array): Group => ({ pool, members, cut: bestCut(columns, members) });
  const groups = pools.map((members, pool) => group(pool, members));
  while (groups.length < most) {
    const at = mostToGain(groups);
    const whole = groups[at];
    if (!whole?.cut) break;
    groups.splice(at, 1, group(whole.pool, whole.cut.low), group(whole.pool, whole.cut.high));
  }
  const graded: Grade[][] = pools.map(() => []);
  for (const { pool, members } of groups) {
    graded[pool]?.push({ nodes: members.length, free: columns.map((column) => leastOf(column, members)) });
  }
  return graded;
}

function mostToGain(groups: readonly Group[]): number {
  let best = -1;
  let gain = 0;
  for (const [at, { cut }] of groups.entries()) {
    if (cut && cut.gain > gain) {
      best = at;
      gain = cut.gain;
    }
  }
  return best;
}

function leastOf(column: Float64Array, members: Uint32Array): number {
  let least = Number.POSITIVE_INFINITY;
  for (const member of members) least = Math.min(least, column[member] ?? 0);
  return least;
}

/**
 * Parts the members in two by one column. Those above the cut are then told with the least among them, so what is gained is
 * their number times the step between the two leasts: of the most that one of them has, so that small nodes count as large ones.
 */
function bestCut(columns: readonly Float64Array[], members: Uint32Array): Cut | undefined {
  let best: { gain: number; column: Float64Array; from: number } | undefined;
  for (const column of columns) {
    const values = Float64Array.from(members, (member) => column[member] ?? 0).sort();
    const least = values[0] ?? 0;
    const most = values.at(-1) || 1;
    for (let at = 1; at < values.length; at += 1) {
      const value = values[at] ?? 0;
      if (value === values[at - 1]) continue;
      const gain = ((values.length - at) * (value - least)) / most;
      if (!best || gain > best.gain) best = { gain, column, from: value };
    }
  }
  if (!best) return undefined;
  const { gain, column, from } = best;
  const isHigh = (member: number): boolean => (column[member] ?? 0) >= from;
  return { gain, low: members.filter((member) => !isHigh(member)), high: members.filter(isHigh) };
}

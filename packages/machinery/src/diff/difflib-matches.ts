import type { Match } from './match.ts';

/** From so many lines on, lines that make up more than a hundredth of all are no anchor. */
const MANY_LINES = 200;

/** Finds runs of equal lines as Python's difflib does, and Kubernetes with it. It takes time by the square of the number of lines. */
export function difflibMatches(old: readonly string[], now: readonly string[]): Match[] {
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
  const matches: Match[] = [];
  const open = [{ from: 0, to: old.length, newFrom: 0, newTo: now.length }];
  for (let range = open.pop(); range; range = open.pop()) {
    const match = longestMatch(old, now, places, range);
    const { start, newStart, length } = match;
    if (length === 0) continue;
    matches.push(match);
    open.push({ from: range.from, to: start, newFrom: range.newFrom, newTo: newStart });
    open.push({ from: start + length, to: range.to, newFrom: newStart + length, newTo: range.newTo });
  }
  return matches.sort((a, b) => a.start - b.start);
}

/** Returns the first of the longest runs that both have in their ranges, extended by equal lines that are no anchor. */
function longestMatch(
  old: readonly string[],
  now: readonly string[],
  places: ReadonlyMap<string, readonly number[]>,
  { from, to, newFrom, newTo }: { from: number; to: number; newFrom: number; newTo: number },
): Match {
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

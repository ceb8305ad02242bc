/** The indexes that `0,2-4` names. */
export function parseIndexes(text: string | undefined): Set<number> {
  const indexes = new Set<number>();
  for (const part of (text ?? '').split(',')) {
    const [first, last = first] = part.split('-');
    if (!first || !last) continue;
    for (let index = Number(first); index <= Number(last); index += 1) indexes.add(index);
  }
  return indexes;
}

/** `0,2-4`: in order, runs of more than two as a range, two as `1,2`, as a Job's status has them. */
export function formatIndexes(indexes: Iterable<number>): string {
  const sorted = [...new Set(indexes)].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let at = 0; at < sorted.length; ) {
    let end = at;
    while (sorted[end + 1] === (sorted[end] ?? 0) + 1) end += 1;
    const [first, last] = [sorted[at] ?? 0, sorted[end] ?? 0];
    parts.push(first === last ? `${first}` : `${first}${last === first + 1 ? ',' : '-'}${last}`);
    at = end + 1;
  }
  return parts.join(',');
}

import { readFileSync } from 'node:fs';
import { parseJson } from '@asterism/machinery';

/** This release of the hub: the version of its package. */
export function ownRelease(): string {
  const file = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (parseJson(file) as { version: string }).version;
}

/**
 * Below 0 where `a` is the older, by Semantic Versioning's numbers; of two with the same numbers a pre-release is the older.
 * What is no version is older than any.
 */
export function compareReleases(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)];
  for (const index of [0, 1, 2]) {
    const difference = (left.numbers[index] ?? -1) - (right.numbers[index] ?? -1);
    if (difference !== 0) return difference;
  }
  if (left.pre === right.pre) return 0;
  if (left.pre === '' || right.pre === '') return left.pre === '' ? 1 : -1;
  return left.pre < right.pre ? -1 : 1;
}

function parse(release: string): { numbers: number[]; pre: string } {
  const match = /^(\d+)\.(\d+)\.(\d+)(?:-([^+]*))?/.exec(release);
  return match ? { numbers: match.slice(1, 4).map(Number), pre: match[4] ?? '' } : { numbers: [], pre: '' };
}

import { deepEqual, difflibMatches, unifiedHunks } from '@asterism/machinery';
import { countValues } from '../../registry/value-limit.ts';

/** Values of both together up to which changes are looked for: it takes time by their number squared. */
const MOST_COMPARED = 3_000;

/**
 * The difference between two values as `diff.Diff` of apimachinery writes it: the hunks of a unified diff of their indented
 * JSON. It is empty if the values are equal. For large values it only says that they differ.
 */
export function unifiedDiff(before: unknown, after: unknown): string {
  const values = countValues(before, MOST_COMPARED) + countValues(after, MOST_COMPARED);
  if (values > MOST_COMPARED)
    return deepEqual(before, after) ? '' : `more than ${MOST_COMPARED} values are too many to show the changes\n`;
  const lines = (value: unknown): string[] => JSON.stringify(value, null, 1).split('\n');
  return unifiedHunks(lines(before), lines(after), difflibMatches);
}

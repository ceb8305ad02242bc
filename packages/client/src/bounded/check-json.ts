import { closes, closingQuote, COMMA, opens, QUOTE } from '../json-bytes.ts';
import { type ReadLimitError, refuseReading } from './read-limit-error.ts';
import type { ReadLimits } from './read-limits.ts';

/**
 * Throws a {@link ReadLimitError} where JSON is nested too deeply or has too many values. It is to be asked before the bytes are parsed:
 * a parser makes many times their size of them. It does not find out whether they are JSON.
 */
export function checkJson(bytes: Uint8Array, source: string, limits: ReadLimits): void {
  const { maxDepth, maxItems, use } = limits;
  // A value takes a byte at least.
  if (bytes.length <= maxDepth && bytes.length <= maxItems) return;
  const { depth, items } = measureJson(bytes, limits);
  const refuse = (limit: 'depth' | 'items', excess: string): ReadLimitError =>
    refuseReading({ limit, source, use, excess });
  if (depth > maxDepth) throw refuse('depth', `JSON of more than ${maxDepth} levels`);
  if (items > maxItems) throw refuse('items', `more than ${maxItems} JSON values`);
}

/** Counts levels and values, and stops at the first that is beyond the limits. */
export function measureJson(
  bytes: Uint8Array,
  { maxDepth, maxItems }: Pick<ReadLimits, 'maxDepth' | 'maxItems'>,
): { depth: number; items: number } {
  const { length } = bytes;
  const view = new DataView(bytes.buffer, bytes.byteOffset, length);
  let open = 0;
  let depth = 0;
  let items = 1;
  for (let at = 0; at < length; at++) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      at = closingQuote(bytes, view, at + 1);
    } else if (byte === COMMA) {
      if (++items > maxItems) break;
    } else if (opens(byte)) {
      if (++open > depth) depth = open;
      if (depth > maxDepth || ++items > maxItems) break;
    } else if (closes(byte)) open--;
  }
  return { depth, items };
}

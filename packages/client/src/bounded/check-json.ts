import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from '../json-bytes.ts';
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
  let open = 0;
  let depth = 0;
  let items = 1;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (byte === COMMA) items++;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      items++;
      if (++open > depth) depth = open;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) open--;
    else continue;
    if (depth > maxDepth || items > maxItems) break;
  }
  return { depth, items };
}

/** The closing quote of the string that begins at `start`. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  for (; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) break;
    if (byte === BACKSLASH) at++;
  }
  return at;
}

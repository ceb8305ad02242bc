import { CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './json-bytes.ts';

/**
 * Behind the array that begins at `start`, where that shows without a look at all that is in it; undefined where it does not.
 *
 * It ends at the first closing bracket behind which there are only commas and braces up to a quote and a letter, or up to the end of
 * the bytes: were the bracket within a string, that string would end at the quote, and no letter can follow it. And it ends no
 * other array, as none has begun since.
 */
export function endOfManagedFields(bytes: Buffer, start: number): number | undefined {
  const end = bytes.indexOf(CLOSE_BRACKET, start);
  if (end < 0) return undefined;
  const other = bytes.indexOf(OPEN_BRACKET, start + 1);
  if (other >= 0 && other < end) return undefined;
  let behind = end + 1;
  while (isBetweenStrings(bytes[behind])) behind++;
  const proven = behind === bytes.length || (bytes[behind] === QUOTE && isLetter(bytes[behind + 1]));
  return proven ? end + 1 : undefined;
}

function isBetweenStrings(byte: number | undefined): boolean {
  return byte === CLOSE_BRACE || byte === COMMA || byte === OPEN_BRACE || byte === CLOSE_BRACKET;
}

function isLetter(byte: number | undefined): boolean {
  const lower = (byte ?? 0) | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

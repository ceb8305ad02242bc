/** The bytes that give JSON its shape. */
export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const COMMA = 0x2c;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
export const SPACE = 0x20;
export const COLON = 0x3a;

/** Whether an object or an array begins with the byte. */
export function opens(byte: number | undefined): boolean {
  return byte === OPEN_BRACE || byte === OPEN_BRACKET;
}

/** Whether an object or an array ends with the byte. */
export function closes(byte: number | undefined): boolean {
  return byte === CLOSE_BRACE || byte === CLOSE_BRACKET;
}

/** The index of the quote that ends a string; `from` is behind its first quote. At the end of the bytes if there is none. */
export function closingQuote(bytes: Uint8Array, view: DataView, from: number): number {
  const { length } = bytes;
  const words = length - 3;
  let at = from;
  // Four bytes at once, for as long as none of them is a quote or a backslash.
  while (at < words && !endsString(view.getInt32(at, true))) at += 4;
  for (; at < length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
  return at;
}

/** Whether one of four bytes is a quote or a backslash (or, rarely, is mistaken for one). */
export function endsString(word: number): boolean {
  const quotes = word ^ 0x22222222;
  const backslashes = word ^ 0x5c5c5c5c;
  const found = ((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes);
  return (found & 0x80808080) !== 0;
}

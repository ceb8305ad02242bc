/** Where a value stands in JSON text: from its first byte to behind its last. */
export interface Slice {
  start: number;
  end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const SPACE = 0x20;

/**
 * The value of member `name` of the object that begins at `at`; undefined where it has none. The text must be valid JSON, which
 * whoever asks has parsed; the name one that no encoder escapes.
 */
export function memberOf(bytes: Uint8Array, at: number, name: string): Slice | undefined {
  for (let cursor = skipSpace(bytes, at + 1); bytes[cursor] === QUOTE; ) {
    const keyStart = cursor + 1;
    const keyEnd = endOfString(bytes, cursor);
    const start = skipSpace(bytes, skipSpace(bytes, keyEnd) + 1);
    const end = endOfValue(bytes, start);
    if (keyEnd - 1 - keyStart === name.length && spells(bytes, keyStart, name)) return { start, end };
    cursor = skipSpace(bytes, end);
    if (bytes[cursor] === COMMA) cursor = skipSpace(bytes, cursor + 1);
  }
  return undefined;
}

/** The elements of the array that begins at `at`, in valid JSON. */
export function elementsOf(bytes: Uint8Array, at: number): Slice[] {
  const slices: Slice[] = [];
  for (let start = skipSpace(bytes, at + 1); bytes[start] !== CLOSE_BRACKET; ) {
    const end = endOfValue(bytes, start);
    slices.push({ start, end });
    const behind = skipSpace(bytes, end);
    start = bytes[behind] === COMMA ? skipSpace(bytes, behind + 1) : behind;
  }
  return slices;
}

/** The first byte from `at` on that is no white space. */
export function skipSpace(bytes: Uint8Array, at: number): number {
  let cursor = at;
  while ((bytes[cursor] as number) <= SPACE) cursor++;
  return cursor;
}

function spells(bytes: Uint8Array, at: number, name: string): boolean {
  for (let i = 0; i < name.length; i++) if (bytes[at + i] !== name.charCodeAt(i)) return false;
  return true;
}

function endOfValue(bytes: Uint8Array, start: number): number {
  const first = bytes[start];
  if (first === QUOTE) return endOfString(bytes, start);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return endOfLiteral(bytes, start);
  let cursor = start + 1;
  for (let open = 1; open > 0; ) {
    const byte = bytes[cursor];
    if (byte === undefined) return bytes.length;
    if (byte === QUOTE) {
      cursor = endOfString(bytes, cursor);
      continue;
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) open++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) open--;
    cursor++;
  }
  return cursor;
}

/** Behind the quote that closes the string which begins at `start`. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let cursor = start + 1; cursor < bytes.length; cursor++) {
    const byte = bytes[cursor];
    if (byte === BACKSLASH) cursor++;
    else if (byte === QUOTE) return cursor + 1;
  }
  return bytes.length;
}

function endOfLiteral(bytes: Uint8Array, start: number): number {
  let cursor = start;
  for (let byte = bytes[cursor]; byte !== undefined && byte > SPACE; byte = bytes[++cursor]) {
    if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET) break;
  }
  return cursor;
}

import { isJsonObject, ownMember, setMember } from '@asterism/machinery';

/** What stands twice in a JSON text. */
export interface DuplicateFields {
  /** Their paths in Kubernetes' words: `duplicate field "data.a"`. */
  errors: string[];
  /** The value as Go reads it into structs and maps: objects under the same key are merged, of anything else the last counts. */
  merged: unknown;
}

/**
 * Finds the keys that stand twice in one object of a JSON text; undefined where there are none.
 *
 * `JSON.parse` keeps the last of them without a word. `value` is what it made of `text`: as long as the text has exactly as
 * many keys as the value, which is counted fast, there is nothing to look for.
 */
export function findDuplicateFields(
  text: string,
  value: unknown,
  keys = measureJson(text).keys,
): DuplicateFields | undefined {
  if (keys === countKeys(value)) return undefined;
  const duplicates = new Set<string>();
  const merged = scanValue({ text, at: 0, duplicates }, '');
  return { errors: [...duplicates].map((path) => `duplicate field "${path}"`), merged };
}

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
/** `{` and `[`; what closes them stands two further. */
const BRACE = 0x7b;
const BRACKET = 0x5b;
/** As many as upstream's decoder tells; their paths may be as long as the text. */
const MAX_TOLD = 100;
/** Numbers, `true`, `false`, `null`. */
const LITERAL = /[^,\]}\s]*/y;

/** How many keys a valid JSON text has, and how deep it nests, without parsing it. */
export function measureJson(text: string): { keys: number; depth: number } {
  let keys = 0;
  let open = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at) - 1;
    else if (code === COLON) keys++;
    else if (code === BRACE || code === BRACKET) depth = Math.max(depth, ++open);
    else if (code === BRACE + 2 || code === BRACKET + 2) open--;
  }
  return { keys, depth };
}

/** The place behind the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const end = text.indexOf('"', at);
    if (end < 0) return text.length;
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end + 1;
    at = end + 1;
  }
}

function countKeys(value: unknown): number {
  if (value === null || typeof value !== 'object') return 0;
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + countKeys(item), 0);
  let keys = 0;
  for (const item of Object.values(value)) keys += 1 + countKeys(item);
  return keys;
}

interface Scanner {
  text: string;
  at: number;
  duplicates: Set<string>;
}

/** Reads one value of a text that is known to be valid JSON. */
function scanValue(scanner: Scanner, path: string): unknown {
  const opening = nextToken(scanner);
  if (opening === '{') return scanObject(scanner, path);
  if (opening === '[') return scanArray(scanner, path);
  const start = scanner.at;
  if (opening === '"') scanner.at = endOfString(scanner.text, scanner.at);
  else {
    LITERAL.lastIndex = scanner.at;
    scanner.at += LITERAL.exec(scanner.text)?.[0].length ?? 1;
  }
  return JSON.parse(scanner.text.slice(start, scanner.at));
}

function scanObject(scanner: Scanner, path: string): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  scanner.at++;
  while (nextToken(scanner) !== '}') {
    if (nextToken(scanner) === ',') {
      scanner.at++;
      continue;
    }
    const end = endOfString(scanner.text, scanner.at);
    const key = JSON.parse(scanner.text.slice(scanner.at, end)) as string;
    const keyPath = path === '' ? key : `${path}.${key}`;
    scanner.at = scanner.text.indexOf(':', end) + 1;
    const isDuplicate = Object.hasOwn(object, key);
    if (isDuplicate && scanner.duplicates.size < MAX_TOLD) scanner.duplicates.add(keyPath);
    const value = scanValue(scanner, keyPath);
    setMember(object, key, isDuplicate ? mergeDuplicates(object[key], value) : value);
  }
  scanner.at++;
  return object;
}

function mergeDuplicates(first: unknown, second: unknown): unknown {
  if (!isJsonObject(first) || !isJsonObject(second)) return second;
  const merged = { ...first };
  for (const [key, value] of Object.entries(second))
    setMember(merged, key, mergeDuplicates(ownMember(merged, key), value));
  return merged;
}

function scanArray(scanner: Scanner, path: string): unknown[] {
  const items: unknown[] = [];
  scanner.at++;
  while (nextToken(scanner) !== ']') {
    items.push(scanValue(scanner, `${path}[${items.length}]`));
    if (nextToken(scanner) === ',') scanner.at++;
  }
  scanner.at++;
  return items;
}

/** Skips white space and answers with the character behind it. */
function nextToken(scanner: Scanner): string {
  const { text } = scanner;
  while (scanner.at < text.length && text.charCodeAt(scanner.at) <= 0x20) scanner.at++;
  return text[scanner.at] ?? '}';
}

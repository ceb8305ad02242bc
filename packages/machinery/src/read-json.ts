import { setMember } from './json-object.ts';

/** What a reader of JSON may want to know or decide. */
export interface ReadJsonHooks {
  /** Called for a key that stands again in one object, before its value is read. `path`: the keys and indices that lead to it. */
  repeated?: (path: () => (string | number)[]) => void;
  /** The value to keep of a key that stands again; without it, the later one. */
  merge?: (first: unknown, second: unknown) => unknown;
  /** What a number means, as it is written. */
  number?: (source: string) => unknown;
}

/** An object or array that is not closed yet. */
interface Container {
  value: Record<string, unknown> | unknown[];
  /** Of an object: the member that is being read. */
  key: string | undefined;
}

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
/** `{` and `[`; what closes them stands two further. */
const BRACE = 0x7b;
const BRACKET = 0x5b;
/** Numbers, `true`, `false`, `null`. */
const LITERAL = /[^,\]}\s]*/y;

/**
 * Reads a text that `JSON.parse` has taken, slower than that, but with a say in what becomes of keys that stand twice and of
 * numbers. A key that stands twice keeps its first place. Texts of any depth are read.
 */
export function readJson(text: string, hooks: ReadJsonHooks = {}): unknown {
  const open: Container[] = [];
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code <= SPACE || code === COMMA || code === COLON) {
      at++;
      continue;
    }
    if (code === BRACE || code === BRACKET) {
      open.push({ value: code === BRACE ? {} : [], key: undefined });
      at++;
      continue;
    }
    let value: unknown;
    if (code === BRACE + 2 || code === BRACKET + 2) {
      value = open.pop()?.value;
      at++;
    } else {
      const end = code === QUOTE ? endOfJsonString(text, at) : endOfLiteral(text, at);
      const source = text.slice(at, end);
      at = end;
      value = hooks.number && isNumber(code) ? hooks.number(source) : JSON.parse(source);
      if (isKey(open.at(-1))) {
        startMember(open, value as string, hooks);
        continue;
      }
    }
    const container = open.at(-1);
    if (!container) return value;
    place(container, value, hooks);
  }
  throw new SyntaxError('the JSON text ends in the middle');
}

/** The place behind the string of a JSON text that begins at `start`. */
export function endOfJsonString(text: string, start: number): number {
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

function endOfLiteral(text: string, start: number): number {
  LITERAL.lastIndex = start;
  return start + (LITERAL.exec(text)?.[0].length ?? 0);
}

function isNumber(code: number): boolean {
  return code === 0x2d || (code >= 0x30 && code <= 0x39);
}

/** Whether what comes next in a container is a key. */
function isKey(container: Container | undefined): boolean {
  return container !== undefined && container.key === undefined && !Array.isArray(container.value);
}

function startMember(open: readonly Container[], key: string, { repeated }: ReadJsonHooks): void {
  const container = open.at(-1)!;
  container.key = key;
  if (repeated && Object.hasOwn(container.value, key)) {
    repeated(() => open.map((each) => each.key ?? (each.value as unknown[]).length));
  }
}

function place(container: Container, value: unknown, { merge }: ReadJsonHooks): void {
  if (Array.isArray(container.value)) {
    container.value.push(value);
    return;
  }
  const key = container.key!;
  container.key = undefined;
  const isAgain = merge !== undefined && Object.hasOwn(container.value, key);
  setMember(container.value, key, isAgain ? merge(container.value[key], value) : value);
}

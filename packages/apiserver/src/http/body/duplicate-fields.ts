import { endOfJsonString, isJsonObject, ownMember, readJson, setMember } from '@asterism/machinery';

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
 * `parseJson` keeps the last of them without a word. `value` is what it made of `text`: as long as the text has exactly as
 * many keys as the value, which is counted fast, there is nothing to look for.
 */
export function findDuplicateFields(
  text: string,
  value: unknown,
  keys = measureJson(text).keys,
): DuplicateFields | undefined {
  if (keys === countKeys(value)) return undefined;
  const duplicates = new Set<string>();
  let written = 0;
  const merged = readJson(text, {
    repeated: (path) => {
      if (duplicates.size >= MAX_TOLD || written >= MAX_WRITTEN) return;
      const formatted = formatPath(path());
      written += formatted.length;
      duplicates.add(formatted);
    },
    merge: mergeDuplicates,
  });
  return { errors: [...duplicates].map((path) => `duplicate field "${path}"`), merged };
}

const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;
/** `{` and `[`; what closes them stands two further. */
const BRACE = 0x7b;
const BRACKET = 0x5b;
/** As many as upstream's decoder tells; their paths may be as long as the text. */
const MAX_TOLD = 100;
/** Characters of paths, told once or again: one key may stand a million times under a long one. */
const MAX_WRITTEN = 16 * 1024 * 1024;

/** How many keys and values a valid JSON text has, and how deep it nests, without parsing it. */
export function measureJson(text: string): { keys: number; values: number; depth: number } {
  let keys = 0;
  let values = 1;
  let open = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfJsonString(text, at) - 1;
    else if (code === COLON) keys++;
    else if (code === COMMA) values++;
    else if (code === BRACE || code === BRACKET) {
      values++;
      depth = Math.max(depth, ++open);
    } else if (code === BRACE + 2 || code === BRACKET + 2) open--;
  }
  return { keys, values, depth };
}

function countKeys(value: unknown): number {
  if (value === null || typeof value !== 'object') return 0;
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + countKeys(item), 0);
  let keys = 0;
  for (const item of Object.values(value)) keys += 1 + countKeys(item);
  return keys;
}

/** As Kubernetes' messages name a place: `spec.containers[0].name`. */
function formatPath(path: readonly (string | number)[]): string {
  return path.reduce<string>((above, step) => {
    if (typeof step === 'number') return `${above}[${step}]`;
    return above === '' ? step : `${above}.${step}`;
  }, '');
}

/** Changes `first`, which the reader has just made: an object that stands a million times is not copied each time. */
function mergeDuplicates(first: unknown, second: unknown): unknown {
  if (!isJsonObject(first) || !isJsonObject(second)) return second;
  for (const [key, value] of Object.entries(second))
    setMember(first, key, mergeDuplicates(ownMember(first, key), value));
  return first;
}

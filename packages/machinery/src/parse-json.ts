import { readJson } from './read-json.ts';

/**
 * `JSON.parse`, guarded against a bug of the V8 in Node 24 (nodejs/node#63785): a key written with an escape may be read as
 * another one, which an earlier object of the process had: `"\""` as `\`. What a client sends could so change what another's
 * object is read as.
 *
 * V8 compares the key as written, cut to the length of what it means, with the key that it expects next. So a key that was
 * misread has a backslash in it, as few real ones do: only a text with such a key is read again, by {@link readJson}. The guard
 * may go when every supported version of Node has a V8 without the bug: the tests of this file then pass with `JSON.parse` too.
 *
 * @throws SyntaxError as `JSON.parse`.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const mayBeMisread = typeof value === 'object' && value !== null && text.includes('\\');
  return mayBeMisread && hasBackslashKey(value) ? readJson(text) : value;
}

/** Whether a key anywhere in a list or object has a backslash. Not recursive: `JSON.parse` reads a text of any depth. */
function hasBackslashKey(value: object): boolean {
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const container = waiting.pop();
    if (Array.isArray(container)) {
      for (const item of container as unknown[]) if (typeof item === 'object' && item !== null) waiting.push(item);
      continue;
    }
    // What JSON.parse makes has no inherited keys.
    for (const key in container as Record<string, unknown>) {
      if (key.includes('\\')) return true;
      const member = (container as Record<string, unknown>)[key];
      if (typeof member === 'object' && member !== null) waiting.push(member);
    }
  }
  return false;
}

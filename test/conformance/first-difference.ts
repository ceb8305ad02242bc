import { isDeepStrictEqual } from 'node:util';

/** Where and how `own` first differs from `recorded`, for people; undefined where they are equal. */
export function firstDifference(recorded: unknown, own: unknown, path = ''): string | undefined {
  if (isDeepStrictEqual(recorded, own)) return undefined;
  if (isContainer(recorded) && isContainer(own) && Array.isArray(recorded) === Array.isArray(own)) {
    for (const key of new Set([...Object.keys(recorded), ...Object.keys(own)])) {
      const found = firstDifference(recorded[key], own[key], path === '' ? key : `${path}.${key}`);
      if (found !== undefined) return found;
    }
  }
  return `${path}\n  recorded: ${show(recorded)}\n  own:      ${show(own)}`;
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}

import { isJsonObject } from './json-object.ts';

/** A text that equal JSON values share, in whatever order their keys are: a key for sets and maps. */
export function orderedText(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isJsonObject(member) ? ['{', ...Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))] : member,
  );
}

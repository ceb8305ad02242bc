import { deepEqual, formatJsonPointer, isJsonObject, type JsonPatchOperation } from '@asterism/machinery';

type Path = readonly (string | number)[];

/**
 * The JSON patch (RFC 6902: add, remove, replace) that makes `after` of `before`, which are JSON; empty where they say the same.
 * What stays in its place is not touched: of a list, what both begin and end with; the rest is compared place by place.
 */
export function diffJson(before: unknown, after: unknown): JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = [];
  compare(before, after, [], operations);
  return operations;
}

function compare(before: unknown, after: unknown, path: Path, operations: JsonPatchOperation[]): void {
  if (isJsonObject(before) && isJsonObject(after)) compareMembers(before, after, path, operations);
  else if (Array.isArray(before) && Array.isArray(after)) compareItems(before, after, path, operations);
  else if (!deepEqual(before, after)) operations.push({ op: 'replace', path: formatJsonPointer(path), value: after });
}

function compareMembers(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
  path: Path,
  operations: JsonPatchOperation[],
): void {
  for (const key of Object.keys(before)) {
    if (!Object.hasOwn(after, key)) operations.push({ op: 'remove', path: formatJsonPointer([...path, key]) });
  }
  for (const [key, value] of Object.entries(after)) {
    const at = [...path, key];
    if (Object.hasOwn(before, key)) compare(before[key], value, at, operations);
    else operations.push({ op: 'add', path: formatJsonPointer(at), value });
  }
}

function compareItems(
  before: readonly unknown[],
  after: readonly unknown[],
  path: Path,
  operations: JsonPatchOperation[],
): void {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && deepEqual(before[head], after[head])) head++;
  let tail = 0;
  while (tail < shorter - head && deepEqual(before.at(-1 - tail), after.at(-1 - tail))) tail++;
  const common = shorter - tail;
  for (let i = head; i < common; i++) compare(before[i], after[i], [...path, i], operations);
  // From the end, so that the places before keep their numbers.
  for (let i = before.length - tail - 1; i >= common; i--) {
    operations.push({ op: 'remove', path: formatJsonPointer([...path, i]) });
  }
  for (let i = common; i < after.length - tail; i++) {
    operations.push({ op: 'add', path: formatJsonPointer([...path, i]), value: after[i] });
  }
}

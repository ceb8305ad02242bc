import { deepEqual } from '../deep-equal.ts';
import { isJsonObject, ownMember } from '../json-object.ts';
import type { StructuralSchema } from './structural-schema.ts';

/** The item of `list` that has the keys of `item`; undefined unless the list is of type map and has exactly one such item. */
export function sameListItem(schema: StructuralSchema, list: readonly unknown[], item: unknown): unknown {
  const { listType, listMapKeys } = schema;
  if (listType !== 'map' || !isJsonObject(item)) return undefined;
  let found: unknown;
  for (const other of list) {
    if (!isJsonObject(other)) continue;
    if (!listMapKeys.every((key) => deepEqual(ownMember(item, key), ownMember(other, key)))) continue;
    if (found !== undefined) return undefined;
    found = other;
  }
  return found;
}

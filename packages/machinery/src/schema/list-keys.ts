import { isJsonObject, ownMember } from '../json-object.ts';
import { formatGoJson } from './go-format.ts';
import type { StructuralSchema } from './structural-schema.ts';

/**
 * Finds the item of `list` that has the keys of another; undefined unless the list is of type map and has exactly one such
 * item. The list is indexed once, with the first question.
 */
export function listItemsByKey(
  { listType, listMapKeys }: StructuralSchema,
  list: readonly unknown[],
): (item: unknown) => unknown {
  if (listType !== 'map') return () => undefined;
  const keysOf = (item: Record<string, unknown>): string =>
    formatGoJson(listMapKeys.map((key) => [ownMember(item, key)].filter((value) => value !== undefined)));
  let index: Map<string, unknown> | undefined;
  const indexed = (): Map<string, unknown> => {
    const items = new Map<string, unknown>();
    for (const item of list) {
      if (!isJsonObject(item)) continue;
      const keys = keysOf(item);
      items.set(keys, items.has(keys) ? undefined : item);
    }
    return items;
  };
  return (item) => (isJsonObject(item) ? (index ??= indexed()).get(keysOf(item)) : undefined);
}

import { isJsonObject, ownMember } from './json-object.ts';
import { formatGoValue } from './schema/go-format.ts';
import { unclassifiedError } from './schema/unclassified-error.ts';

/**
 * Whether the items of a patch come in the order that its `$setElementOrder` gives, and all of them are named there.
 *
 * @throws StatusError 500 where they do not.
 */
export function checkSetElementOrder(
  patch: readonly unknown[],
  order: readonly unknown[],
  mergeKey: string | undefined,
): void {
  if (patch.length === 0 || order.length === 0) return;
  const items = patch.filter((item) => !(isJsonObject(item) && item.$patch !== undefined));
  let next = 0;
  for (const element of order) {
    if (next < items.length && identify(items[next], mergeKey) === identify(element, mergeKey)) next += 1;
  }
  if (next < items.length) {
    throw unclassifiedError(
      `The order in patch list:\n${formatGoValue(patch)}\n doesn't match $setElementOrder list:\n${formatGoValue(order)}\n`,
    );
  }
}

/**
 * Puts a merged list into the order of the patch; an item that the patch does not name stands before the first one that it
 * stood before in the current list.
 */
export function orderLists(
  merged: readonly unknown[],
  order: readonly unknown[],
  current: readonly unknown[],
  mergeKey: string | undefined,
): unknown[] {
  const places = placesOf(order, mergeKey);
  const currentPlaces = placesOf(current, mergeKey);
  const place = (item: unknown) => places.get(identify(item, mergeKey));
  const currentPlace = (item: unknown) => currentPlaces.get(identify(item, mergeKey));
  const named = merged.filter((item) => place(item) !== undefined).sort((a, b) => place(a)! - place(b)!);
  const others = merged
    .filter((item) => place(item) === undefined)
    .sort((a, b) => (currentPlace(a) ?? 0) - (currentPlace(b) ?? 0));
  const result: unknown[] = [];
  let next = 0;
  for (const item of named) {
    const at = currentPlace(item);
    while (next < others.length && at !== undefined && (currentPlace(others[next]) ?? Infinity) < at) {
      result.push(others[next]);
      next += 1;
    }
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}

/** The value of an item's merge key, or the item itself in a list of scalars. Throws StatusError 500 where it has none. */
export function identify(item: unknown, mergeKey: string | undefined): unknown {
  if (mergeKey === undefined) return item;
  const value = isJsonObject(item) ? ownMember(item, mergeKey) : undefined;
  if (value === undefined) {
    throw unclassifiedError(`map: ${formatGoValue(item)} does not contain declared merge key: ${mergeKey}`);
  }
  return value;
}

function placesOf(list: readonly unknown[], mergeKey: string | undefined): Map<unknown, number> {
  const places = new Map<unknown, number>();
  for (const [i, item] of list.entries()) {
    const key = identify(item, mergeKey);
    if (!places.has(key)) places.set(key, i);
  }
  return places;
}

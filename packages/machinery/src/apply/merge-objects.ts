import { ownMember, setMember } from '../json-object.ts';
import type { StructuralSchema } from '../schema/structural-schema.ts';
import { itemElement } from './path-element.ts';
import { asList, asMap, isAtomicList, isAtomicMap, isEmptyMap, kindOf, memberSchema } from './value-kind.ts';

/**
 * What comes of applying `applied` to `live`: its leaves take the place of the live ones, nothing is removed. Items of lists
 * of type map and set come in the order of `applied`; those that only `live` has keep their place relative to them.
 */
export function mergeObjects(live: unknown, applied: unknown, schema: StructuralSchema): unknown {
  if (applied === undefined) return live;
  if (live === undefined || live === applied) return applied; // `null` too: what is applied as nothing is not left out
  const kind = kindOf(schema, applied);
  if (kind === 'map' && !isAtomicMap(schema)) return mergeMaps(live, applied, schema);
  if (kind === 'list' && !isAtomicList(schema)) return mergeLists(live, applied, schema);
  return applied;
}

function mergeMaps(live: unknown, applied: unknown, schema: StructuralSchema): unknown {
  const left = asMap(live);
  const right = asMap(applied);
  if (isEmptyMap(left) && isEmptyMap(right)) return applied;
  const merged: Record<string, unknown> = { ...left };
  for (const key of Object.keys(right ?? {})) {
    const field = memberSchema(schema, key);
    const value = right![key];
    if (field && value !== undefined) {
      setMember(merged, key, left ? mergeObjects(ownMember(left, key), value, field) : value);
    }
  }
  return merged;
}

function mergeLists(live: unknown, applied: unknown, schema: StructuralSchema): unknown {
  const left = asList(live) ?? [];
  const right = asList(applied) ?? [];
  if (left.length === 0 && right.length === 0) return applied;
  if (left.length === 0) return right;
  if (right.length === 0) return left;
  return mergeItems(left, right, schema);
}

/** Walks both lists at once, in the order that structured-merge-diff gives. */
function mergeItems(left: readonly unknown[], right: readonly unknown[], schema: StructuralSchema): unknown[] {
  const leftElements = left.map((item) => itemElement(item, schema));
  const rightElements = right.map((item) => itemElement(item, schema));
  const live = indexLive(left, leftElements);
  const wanted = new Set(rightElements);
  const shared = rightElements.filter((element) => live.has(element));
  const merged: unknown[] = [];
  const taken = new Set<string>();
  let nextShared = 0;
  let l = 0;
  let r = 0;
  while (l < left.length || r < right.length) {
    const leftElement = leftElements[l];
    const rightElement = rightElements[r];
    if (leftElement !== undefined && leftElement !== rightElement) {
      if (!wanted.has(leftElement)) {
        merged.push(left[l]);
        l += 1;
        continue;
      }
      // A shared item that the applied list puts elsewhere.
      const isOutOfTurn = nextShared < shared.length && shared[nextShared] !== leftElement;
      if (rightElement === undefined || isOutOfTurn || taken.has(leftElement)) {
        l += 1;
        continue;
      }
    }
    if (rightElement === undefined) continue;
    merged.push(mergeObjects(live.get(rightElement), right[r], schema.listElement));
    taken.add(rightElement);
    if (shared[nextShared] === rightElement) nextShared += 1;
    if (leftElement === rightElement) l += 1;
    r += 1;
  }
  return merged;
}

/** The live items by their elements; one that comes twice is not merged but replaced. */
function indexLive(list: readonly unknown[], elements: readonly string[]): ReadonlyMap<string, unknown> {
  const index = new Map<string, unknown>();
  for (const [i, element] of elements.entries()) index.set(element, index.has(element) ? undefined : list[i]);
  return index;
}

import { deepEqual } from '../deep-equal.ts';
import { ownMember } from '../json-object.ts';
import type { StructuralSchema } from '../schema/structural-schema.ts';
import { EMPTY_SET, type FieldSet, makeNode, unionNodes } from './field-set.ts';
import { fieldElement, itemElement } from './path-element.ts';
import { asList, asMap, isAtomicList, isAtomicMap, isEmptyMap, kindOf, memberSchema } from './value-kind.ts';

/** The fields in which two objects differ. */
export interface Comparison {
  added: FieldSet;
  modified: FieldSet;
  removed: FieldSet;
}

/** The same, of one place in the objects: undefined where nothing is to be said, a leaf where the place itself differs. */
interface Difference {
  added: FieldSet | undefined;
  modified: FieldSet | undefined;
  removed: FieldSet | undefined;
}

type Change = keyof Difference;

/**
 * Which fields were added, modified and removed on the way from `before` to `after`. Objects of built-in kinds are compared
 * as the Go structs that they are upstream: a struct that is absent from the JSON is there, with nothing in it.
 */
export function compareObjects(before: unknown, after: unknown, schema: StructuralSchema): Comparison {
  const difference = compare(before, after, schema);
  return {
    added: difference?.added ?? EMPTY_SET,
    modified: difference?.modified ?? EMPTY_SET,
    removed: difference?.removed ?? EMPTY_SET,
  };
}

function compare(before: unknown, after: unknown, schema: StructuralSchema): Difference | undefined {
  if (before === after) return undefined;
  const kindBefore = kindOf(schema, before);
  const kindAfter = kindOf(schema, after);
  if (after === undefined || kindBefore === kindAfter || before === undefined) {
    return compareAs(after === undefined ? kindBefore : kindAfter, before, after, schema);
  }
  // A value that became one of another kind: as the former it is modified, as the latter its fields are added.
  return join(compareAs(kindBefore, before, after, schema), compareAs(kindAfter, before, after, schema));
}

function compareAs(
  kind: 'map' | 'list' | 'scalar',
  before: unknown,
  after: unknown,
  schema: StructuralSchema,
): Difference | undefined {
  if (kind === 'scalar') return compareLeaves(before, after);
  if (kind === 'list') {
    const [left, right] = [asList(before), asList(after)];
    if (isAtomicList(schema) || (!left?.length && !right?.length)) return compareLeaves(before, after);
    return whole(before, after, compareItems(left ?? [], right ?? [], schema));
  }
  const [left, right] = [asMap(before), asMap(after)];
  if (isAtomicMap(schema) || (isEmptyMap(left) && isEmptyMap(right))) return compareLeaves(before, after);
  return whole(before, after, compareMembers(left, right, schema));
}

function compareLeaves(before: unknown, after: unknown): Difference | undefined {
  if (before === undefined) return leaf('added');
  if (after === undefined) return leaf('removed');
  return deepEqual(before, after) ? undefined : leaf('modified');
}

function leaf(change: Change): Difference {
  return { added: undefined, modified: undefined, removed: undefined, [change]: EMPTY_SET };
}

/** A container that only one side has differs itself, not only in what it holds. */
function whole(before: unknown, after: unknown, collected: Collected): Difference | undefined {
  const added = makeNode(before === undefined, collected.added);
  const modified = makeNode(false, collected.modified);
  const removed = makeNode(before !== undefined && after === undefined, collected.removed);
  return added || modified || removed ? { added, modified, removed } : undefined;
}

type Collected = Record<Change, Record<string, FieldSet> | undefined>;

function collect(into: Collected, element: string, difference: Difference | undefined): void {
  if (!difference) return;
  for (const change of ['added', 'modified', 'removed'] as const) {
    const node = difference[change];
    if (node) (into[change] ??= {})[element] = node;
  }
}

function compareMembers(
  before: Record<string, unknown> | undefined,
  after: Record<string, unknown> | undefined,
  schema: StructuralSchema,
): Collected {
  const collected: Collected = { added: undefined, modified: undefined, removed: undefined };
  const { zero } = schema;
  const visit = (key: string) => {
    const field = memberSchema(schema, key);
    if (!field) return;
    const left = memberOf(before, key, zero);
    const right = memberOf(after, key, zero);
    if (left === undefined && right === undefined) return;
    collect(collected, fieldElement(key), compare(left, right, field));
  };
  for (const key in before) visit(key);
  for (const key in after) if (before === undefined || !Object.hasOwn(before, key)) visit(key);
  // What only a struct that is there has: its zero values, against those of one that is not.
  if (zero && (before === undefined) !== (after === undefined)) {
    const present = before ?? after;
    for (const key in zero) if (!Object.hasOwn(present!, key)) visit(key);
  }
  return collected;
}

function memberOf(
  object: Record<string, unknown> | undefined,
  key: string,
  zero: Readonly<Record<string, unknown>> | undefined,
): unknown {
  if (object === undefined) return undefined;
  const value = ownMember(object, key);
  return value === undefined ? zero?.[key] : value;
}

function compareItems(before: readonly unknown[], after: readonly unknown[], schema: StructuralSchema): Collected {
  const collected: Collected = { added: undefined, modified: undefined, removed: undefined };
  const left = groupItems(before, schema);
  const right = groupItems(after, schema);
  for (const [element, items] of left) {
    collect(collected, element, compareGroups(items, right.get(element) ?? [], schema));
  }
  for (const [element, items] of right) {
    if (!left.has(element)) collect(collected, element, compareGroups([], items, schema));
  }
  return collected;
}

function groupItems(list: readonly unknown[], schema: StructuralSchema): Map<string, unknown[]> {
  const groups = new Map<string, unknown[]>();
  for (const item of list) {
    const element = itemElement(item, schema);
    const group = groups.get(element);
    if (group) group.push(item);
    else groups.set(element, [item]);
  }
  return groups;
}

/** Items with the same key: one each is the rule; several are owned as a whole. */
function compareGroups(
  before: readonly unknown[],
  after: readonly unknown[],
  schema: StructuralSchema,
): Difference | undefined {
  if (before.length <= 1 && after.length <= 1) return compare(before[0], after[0], schema.listElement);
  if (before.length >= 2 && after.length >= 2) return deepEqual(before, after) ? undefined : leaf('modified');
  return before.length >= 2
    ? join(after.length > 0 ? compare(undefined, after[0], schema.listElement) : undefined, leaf('removed'))
    : join(before.length > 0 ? compare(before[0], undefined, schema.listElement) : undefined, leaf('added'));
}

function join(a: Difference | undefined, b: Difference | undefined): Difference | undefined {
  if (!a || !b) return a ?? b;
  const joinNodes = (change: Change) => {
    const [left, right] = [a[change], b[change]];
    return left && right ? unionNodes(left, right) : (left ?? right);
  };
  return { added: joinNodes('added'), modified: joinNodes('modified'), removed: joinNodes('removed') };
}

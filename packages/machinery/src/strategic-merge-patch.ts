import { isJsonObject, ownMember, setMember } from './json-object.ts';
import { formatGoValue, goTypeOf, quoteGo } from './schema/go-format.ts';
import type { StructuralSchema } from './schema/structural-schema.ts';
import { unclassifiedError } from './schema/unclassified-error.ts';
import { badRequest, failure } from './status.ts';
import { checkSetElementOrder, identify, orderLists } from './strategic-merge-patch-order.ts';

type Item = Record<string, unknown>;

const DELETE_VALUES = '$deleteFromPrimitiveList/';
const ELEMENT_ORDER = '$setElementOrder/';
const RETAIN_KEYS = '$retainKeys';

/**
 * Applies a strategic merge patch of a built-in kind: objects are merged, lists by their merge key where the schema has one
 * and replaced otherwise, and the directives `$patch`, `$setElementOrder`, `$deleteFromPrimitiveList` and `$retainKeys` are
 * followed, as in apimachinery's `strategicpatch`. Neither argument is changed; the result shares what the patch leaves alone.
 *
 * @throws StatusError 400 for a malformed directive, 422 for lists of lists, 500 for an unknown one and for an item without its merge key: the codes
 * and words of a kube-apiserver.
 */
export function applyStrategicMergePatch(
  document: unknown,
  patch: unknown,
  schema: StructuralSchema,
): Record<string, unknown> {
  if (!isJsonObject(patch)) throw badRequest('Invalid JSON Patch');
  return mergeObject(isJsonObject(document) ? document : {}, patch, schema);
}

/** Merges `patch` into a copy of `original`. Without a schema nothing is known of the fields. */
function mergeObject(
  original: Record<string, unknown>,
  patch: Record<string, unknown>,
  schema: StructuralSchema | undefined,
): Record<string, unknown> {
  const directive = patch.$patch;
  if (directive !== undefined) return followDirective(directive, patch);
  const result = retainKeys(original, patch);
  const ordered = mergeOrderedLists(result, patch, schema);
  for (const [key, value] of Object.entries(patch)) {
    if (key === RETAIN_KEYS || key.startsWith(ELEMENT_ORDER) || ordered.has(key)) continue;
    if (key.startsWith(DELETE_VALUES)) deleteFromList(result, key, value);
    else mergeMember(result, key, value, schema);
  }
  return result;
}

function followDirective(directive: unknown, patch: Record<string, unknown>): Record<string, unknown> {
  if (directive === 'delete') return {};
  if (directive !== 'replace') {
    throw unclassifiedError(`unknown patch type: ${formatGoValue(directive)} in map: ${formatGoValue(patch)}`);
  }
  const { $patch: _, ...replacement } = patch;
  return replacement;
}

function mergeMember(
  result: Record<string, unknown>,
  key: string,
  value: unknown,
  schema: StructuralSchema | undefined,
): void {
  if (value === null) {
    delete result[key];
    return;
  }
  const current = ownMember(result, key);
  if (isJsonObject(current) && isJsonObject(value)) {
    const field = fieldOf(schema, key);
    setMember(result, key, strategyOf(field) === 'replace' ? value : mergeObject(current, value, field));
  } else if (Array.isArray(current) && Array.isArray(value)) {
    setMember(result, key, mergeListField(current, value, fieldOf(schema, key)));
  } else {
    const plain = withoutDirectives(value);
    if (plain === undefined) delete result[key];
    else setMember(result, key, plain);
  }
}

/** A list is merged only where its schema says so; else the patch's takes its place. */
function mergeListField(current: readonly unknown[], patch: readonly unknown[], field: StructuralSchema): unknown[] {
  return strategyOf(field) === 'merge' ? mergeLists(current, patch, field) : [...patch];
}

function deleteFromList(result: Record<string, unknown>, directive: string, values: unknown): void {
  const key = directive.slice(DELETE_VALUES.length);
  const current = ownMember(result, key);
  if (values === null) delete result[key];
  else if (Array.isArray(current) && Array.isArray(values)) {
    const deleted = new Set<unknown>(values);
    const remaining = current.filter((value) => !deleted.has(value));
    setMember(result, key, remaining);
  }
}

/** `$retainKeys` removes the fields that it does not name. */
function retainKeys(original: Record<string, unknown>, patch: Record<string, unknown>): Record<string, unknown> {
  const retained = patch[RETAIN_KEYS];
  if (retained === undefined) return { ...original };
  const malformed = 'invalid patch format of retainKeys';
  if (!Array.isArray(retained)) throw badRequest(malformed);
  const keys = new Set<unknown>(retained);
  for (const [key, value] of Object.entries(patch)) {
    const isDirective = key === RETAIN_KEYS || key.startsWith(DELETE_VALUES) || key.startsWith(ELEMENT_ORDER);
    if (value !== null && !isDirective && !keys.has(key)) throw badRequest(malformed);
  }
  return Object.fromEntries(Object.entries(original).filter(([key]) => keys.has(key)));
}

/**
 * Merges the lists that have a `$setElementOrder` and puts them into that order.
 *
 * @returns the keys of the patch that are dealt with.
 */
function mergeOrderedLists(
  result: Record<string, unknown>,
  patch: Record<string, unknown>,
  schema: StructuralSchema | undefined,
): Set<string> {
  const done = new Set<string>();
  for (const [directive, order] of Object.entries(patch)) {
    if (!directive.startsWith(ELEMENT_ORDER)) continue;
    const key = directive.slice(ELEMENT_ORDER.length);
    const field = fieldOf(schema, key);
    const current = listMember(result, key);
    const changes = listMember(patch, key);
    if (!Array.isArray(order)) throw wrongKind(order);
    checkSetElementOrder(changes ?? [], order, field.patchMergeKey);
    const merged = changes ? mergeListField(current ?? [], changes, field) : current;
    if (!merged) continue;
    setMember(result, key, orderLists(merged, order, current ?? [], field.patchMergeKey));
    done.add(key);
  }
  return done;
}

function listMember(object: Record<string, unknown>, key: string): readonly unknown[] | undefined {
  const value = ownMember(object, key);
  if (value !== undefined && !Array.isArray(value)) throw wrongKind(value);
  return value;
}

function fieldOf(schema: StructuralSchema | undefined, key: string): StructuralSchema {
  const field = schema?.field(key);
  if (field) return field;
  throw unclassifiedError(
    `unable to find api field in struct ${schema?.name ?? ''} for the json field ${quoteGo(key)}`,
  );
}

function strategyOf(field: StructuralSchema): string | undefined {
  return field.patchStrategies.find((strategy) => strategy !== 'retainKeys');
}

function wrongKind(value: unknown): Error {
  return unclassifiedError(`expected a []interface {}, but received a ${goTypeOf(value)}`);
}

/**
 * Merges two lists whose strategy is `merge`: objects by their merge key, scalars as a set. The items of the patch come in
 * the patch's order; those that only the current list has keep their place relative to them.
 */
function mergeLists(current: readonly unknown[], patch: readonly unknown[], field: StructuralSchema): unknown[] {
  if (!holdsObjects(current, patch)) return orderLists([...new Set([...current, ...patch])], patch, current, undefined);
  const mergeKey = field.patchMergeKey;
  if (mergeKey === undefined) throw unclassifiedError('cannot merge lists without merge key for type struct');
  const { remaining, changes } = followItemDirectives(current as Item[], patch as Item[], mergeKey);
  const merged = mergeItems(remaining, changes, field.items, mergeKey);
  return orderLists(merged, changes, remaining, mergeKey);
}

/** Applies the items of a patch that are directives (`{$patch: delete, name: a}`, `{$patch: replace}`). */
function followItemDirectives(
  current: readonly Item[],
  patch: readonly Item[],
  mergeKey: string,
): { remaining: readonly Item[]; changes: readonly Item[] } {
  const deleted = new Set<unknown>();
  let replace = false;
  const changes: Item[] = [];
  for (const item of patch) {
    const directive = item.$patch;
    if (directive === undefined) changes.push(item);
    else if (directive === 'delete') deleted.add(identify(item, mergeKey));
    else if (directive === 'replace') replace = true;
    else if (directive === 'merge') throw unclassifiedError('merging lists cannot yet be specified in the patch');
    else throw unclassifiedError(`unknown patch type: ${formatGoValue(directive)} in map: ${formatGoValue(item)}`);
  }
  if (replace) return { remaining: changes, changes: [] };
  return { remaining: current.filter((item) => !deleted.has(ownMember(item, mergeKey))), changes };
}

function mergeItems(
  current: readonly Item[],
  changes: readonly Item[],
  schema: StructuralSchema | undefined,
  mergeKey: string,
): Item[] {
  const merged = [...current];
  const places = new Map<unknown, number>();
  for (const [at, item] of current.entries()) {
    const key = ownMember(item, mergeKey);
    if (!places.has(key)) places.set(key, at);
  }
  for (const change of changes) {
    const key = identify(change, mergeKey);
    const at = places.get(key);
    if (at === undefined) {
      places.set(key, merged.length);
      merged.push(withoutDirectives(change) as Item);
    } else merged[at] = mergeObject(merged[at]!, change, schema);
  }
  return merged;
}

/** @throws StatusError where the items are of several kinds or lists themselves. */
function holdsObjects(current: readonly unknown[], patch: readonly unknown[]): boolean {
  const items = [...current, ...patch];
  if (items.some(Array.isArray)) {
    const cause = new Error('lists of lists are not supported');
    throw failure(422, 'the server rejected our request due to an error in our request', { details: {}, cause });
  }
  const objects = items.filter(isJsonObject).length;
  if (objects > 0 && objects < items.length) {
    throw unclassifiedError(`list element types are not identical: ${formatGoValue(items)}`);
  }
  return objects > 0;
}

/** What of a patch's value is stored where there is nothing to merge it with: no nulls, no objects that are directives. */
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(withoutDirectives).filter((item) => item !== undefined);
  }
  if (!isJsonObject(value)) return value;
  if (value.$patch !== undefined) return undefined;
  const plain: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const kept = member === null ? undefined : withoutDirectives(member);
    if (kept !== undefined) setMember(plain, key, kept);
  }
  return plain;
}

import type { StructuralSchema } from '../schema/structural-schema.ts';
import { type FieldSet, isEmptySet, makeNode } from './field-set.ts';
import { fieldElement, itemElement } from './path-element.ts';
import { asList, asMap, isAtomicList, isAtomicMap, isEmptyMap, kindOf, memberSchema } from './value-kind.ts';

/**
 * The fields that an object states: every leaf, every item of a list of type map or set, and every key of a map. Fields of
 * a struct are stated by what is in them.
 */
export function fieldSetOf(object: unknown, schema: StructuralSchema): FieldSet {
  return visit(object, schema) ?? {};
}

/** What the value contributes at its own place; undefined for nothing. */
function visit(value: unknown, schema: StructuralSchema): FieldSet | undefined {
  switch (kindOf(schema, value)) {
    case 'scalar':
      return {};
    case 'list':
      return isAtomicList(schema) ? {} : makeNode(false, itemsOf(value, schema));
    default:
      return isAtomicMap(schema) ? {} : makeNode(false, membersOf(value, schema));
  }
}

function itemsOf(value: unknown, schema: StructuralSchema): Record<string, FieldSet> {
  const children: Record<string, FieldSet> = {};
  const { listElement } = schema;
  for (const item of asList(value) ?? []) {
    const element = itemElement(item, schema);
    // An item that comes twice is owned as a whole: which of them a field belongs to cannot be said.
    children[element] = children[element] ? {} : (makeNode(true, childrenOf(visit(item, listElement))) ?? {});
  }
  return children;
}

function membersOf(value: unknown, schema: StructuralSchema): Record<string, FieldSet> {
  const children: Record<string, FieldSet> = {};
  const object = asMap(value) ?? {};
  for (const key in object) {
    const member = object[key];
    const field = memberSchema(schema, key);
    if (!field || member === undefined) continue;
    const node = visit(member, field);
    const isLeaf = node !== undefined && isEmptySet(node);
    const map = asMap(member);
    const isStated = member === null || (map !== undefined && isEmptyMap(map)) || !schema.fields.has(key);
    const own = makeNode(isLeaf || isStated, childrenOf(node));
    if (own) children[fieldElement(key)] = own;
  }
  return children;
}

function childrenOf(node: FieldSet | undefined): Record<string, FieldSet> {
  return { ...node };
}

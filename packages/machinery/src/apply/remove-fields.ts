import { setMember } from '../json-object.ts';
import type { StructuralSchema } from '../schema/structural-schema.ts';
import { type FieldSet, hasChildren, isMember } from './field-set.ts';
import { fieldElement, itemElement } from './path-element.ts';
import { asList, asMap, isAtomicList, isAtomicMap, kindOf, memberSchema } from './value-kind.ts';

/** What stands for a container that lost all it had: null says that it was there, undefined that it goes with its content. */
type Emptied = null | undefined;

/** The object without the fields and items of the set. Shares what it leaves alone. */
export function removeFields(object: unknown, fields: FieldSet, schema: StructuralSchema, emptied: Emptied): unknown {
  if (!hasChildren(fields)) return object;
  switch (kindOf(schema, object)) {
    case 'scalar':
      return object;
    case 'list':
      return isAtomicList(schema) ? emptied : removeFromList(asList(object) ?? [], fields, schema, emptied);
    default:
      return isAtomicMap(schema) ? emptied : removeFromMap(asMap(object) ?? {}, fields, schema, emptied);
  }
}

function removeFromList(
  list: readonly unknown[],
  fields: FieldSet,
  schema: StructuralSchema,
  emptied: Emptied,
): readonly unknown[] | Emptied {
  const left: unknown[] = [];
  for (const item of list) {
    const node = fields[itemElement(item, schema)];
    if (node && isMember(node)) continue;
    const kept = node ? removeFields(item, node, schema.listElement, emptied) : item;
    if (kept !== undefined) left.push(kept);
  }
  return left.length > 0 ? left : emptied;
}

function removeFromMap(
  object: Readonly<Record<string, unknown>>,
  fields: FieldSet,
  schema: StructuralSchema,
  emptied: Emptied,
): Record<string, unknown> | Emptied {
  const left: Record<string, unknown> = {};
  let isEmpty = true;
  for (const key of Object.keys(object)) {
    const node = fields[fieldElement(key)];
    if (node && isMember(node)) continue;
    const field = node && memberSchema(schema, key);
    const kept = field ? removeFields(object[key], node, field, emptied) : object[key];
    if (kept === undefined) continue;
    setMember(left, key, kept);
    isEmpty = false;
  }
  return isEmpty ? emptied : left;
}

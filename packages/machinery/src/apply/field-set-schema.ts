import type { StructuralSchema } from '../schema/structural-schema.ts';
import { type FieldSet, hasChildren, isMember, makeNode } from './field-set.ts';
import { fieldNameOf } from './path-element.ts';
import { isAtomicList, isAtomicMap, kindOf, memberSchema } from './value-kind.ts';

/**
 * The set with every declared field a member that has a member below it: removing all that is in a struct then removes the
 * struct too. Keys of maps are left as they are.
 */
export function withNamedFields(set: FieldSet, schema: StructuralSchema | undefined): FieldSet {
  const named: Record<string, FieldSet> = {};
  for (const element in set) {
    if (element === '.') continue;
    const node = set[element]!;
    const name = fieldNameOf(element);
    const isDeclared = name !== undefined && schema !== undefined && acceptsMap(schema) && schema.fields.has(name);
    const below = withNamedFields(node, schemaBelow(schema, element));
    named[element] = makeNode(isMember(node) || isDeclared, { ...below }) ?? {};
  }
  return named;
}

/** The set as it is under a schema that has become stricter: who owned part of what is atomic now owns all of it. */
export function underSchema(set: FieldSet, schema: StructuralSchema): FieldSet {
  let changed: Record<string, FieldSet> | undefined;
  for (const element in set) {
    if (element === '.') continue;
    const node = set[element]!;
    const below = schemaBelow(schema, element);
    if (!below || !hasChildren(node)) continue;
    const kind = kindOf(below, undefined);
    const isAtomic = kind === 'list' ? isAtomicList(below) : kind === 'map' && isAtomicMap(below);
    const under = isAtomic ? {} : (makeNode(isMember(node), { ...underSchema(node, below) }) ?? {});
    if (isAtomic || under !== node) (changed ??= { ...set })[element] = under;
  }
  return changed ?? set;
}

function schemaBelow(schema: StructuralSchema | undefined, element: string): StructuralSchema | undefined {
  if (!schema) return undefined;
  const name = fieldNameOf(element);
  if (name !== undefined) return acceptsMap(schema) ? memberSchema(schema, name) : undefined;
  return element.startsWith('k:') ? schema.listElement : undefined;
}

function acceptsMap(schema: StructuralSchema): boolean {
  return schema.type === undefined || schema.type === 'object';
}

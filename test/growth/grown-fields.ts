import type { Schema, ServedKind } from './served-kinds.ts';

/** A field whose value can grow. */
export interface GrownField {
  /** Of its place: names of fields, `0` of a list's item, `key` of a map's value. */
  path: readonly string[];
  type: 'text' | 'amount' | 'list' | 'map' | 'anything';
  schema: Schema;
  /** Kinds that share a type (a Pod and its templates) have this in common. */
  sharedName: string;
}

const MAX_DEPTH = 14;

/** Every text, list and map of a kind, each schema that refers to itself followed once. */
export function grownFields(kind: ServedKind): GrownField[] {
  const found: GrownField[] = [];
  const walk = (schema: Schema, path: readonly string[], owner: string, within: readonly string[]): void => {
    const name = kind.nameOf(schema);
    if (path.length > MAX_DEPTH || (name !== undefined && within.includes(name))) return;
    const inside = name === undefined ? within : [...within, name];
    const { type, properties = {}, items, additionalProperties, ...rest } = kind.resolve(schema);
    const at = (field: GrownField['type']): void =>
      void found.push({ path, type: field, schema, sharedName: `${owner} ${path.at(-1)} ${field}` });
    if (type === 'string') at('text');
    else if (type === undefined && !rest['x-kubernetes-int-or-string'] && Object.keys(properties).length === 0)
      at('anything');
    else if (type === 'integer' || type === 'number' || type === undefined) at('amount');
    if (rest['x-kubernetes-int-or-string']) at('text');
    if (items) at('list');
    if (typeof additionalProperties === 'object' || rest['x-kubernetes-preserve-unknown-fields']) at('map');
    if (items) walk(items, [...path, '0'], `${owner} ${path.at(-1)}`, inside);
    if (typeof additionalProperties === 'object')
      walk(additionalProperties, [...path, 'key'], `${owner} ${path.at(-1)}`, inside);
    for (const [field, property] of Object.entries(properties)) {
      if (path.length > 0 || (field !== 'apiVersion' && field !== 'kind'))
        walk(property, [...path, field], name ?? `${owner} ${path.at(-1) ?? ''}`, inside);
    }
  };
  walk(kind.schema, [], `${kind.apiVersion} ${kind.kind}`, []);
  return found;
}

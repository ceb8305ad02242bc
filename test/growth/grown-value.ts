import type { Filler } from './fillers.ts';
import type { GrownField } from './grown-fields.ts';
import type { Schema, ServedKind } from './served-kinds.ts';

/** A body of the API server holds 3 MiB; this leaves room for the rest of the object. */
export const GROWN_BYTES = 3 * 1024 * 1024 - 8 * 1024;
/** A body may have 50,000 values; this leaves room for the rest of the object. */
const GROWN_VALUES = 49_000;

/** How a value grows: by a filler, or by its items. */
export interface Growth {
  filler?: Filler;
  /** Of a map: one value grows, and not its key. */
  inValue?: boolean;
  /** Whether items differ. */
  spread?: 'same' | 'different';
}

/** A value of the field as long as a body allows, written as JSON. */
export function grownValue(
  kind: ServedKind,
  field: GrownField,
  { filler, inValue = false, spread = 'same' }: Growth,
): string {
  const text = filler && cutJson(filler(GROWN_BYTES));
  switch (field.type) {
    case 'text':
      return text ?? '""';
    case 'amount':
      return '9'.repeat(GROWN_BYTES);
    case 'anything':
      return `[${repeat((index) => String(index % 10))}]`;
    case 'list':
      return `[${grownItems(kind, field, spread)}]`;
    case 'map': {
      if (text !== undefined) return inValue ? `{"key":${text}}` : `{${text}:"value"}`;
      const { additionalProperties } = kind.resolve(field.schema);
      const value = JSON.stringify(
        typeof additionalProperties === 'object' ? smallValue(kind, additionalProperties, 0) : 1,
      );
      return `{${repeat((index) => `"k${index.toString(36)}":${value}`)}}`;
    }
  }
}

/** A text takes more room in JSON than it has characters. */
function cutJson(text: string): string {
  const written = JSON.stringify(text);
  const bytes = Buffer.byteLength(written);
  return bytes <= GROWN_BYTES ? written : JSON.stringify(text.slice(-Math.floor((text.length * GROWN_BYTES) / bytes)));
}

function grownItems(kind: ServedKind, { schema }: GrownField, spread: Growth['spread']): string {
  const { items = {} } = kind.resolve(schema);
  if (spread === 'same') {
    const item = JSON.stringify(smallValue(kind, items, 0));
    return repeat(() => item);
  }
  return repeat((index) => JSON.stringify(smallValue(kind, items, index)));
}

function repeat(make: (index: number) => string): string {
  const parts: string[] = [];
  let room = GROWN_BYTES;
  for (let index = 0, values = 0; room > 0 && values < GROWN_VALUES; index += 1) {
    const part = make(index);
    parts.push(part);
    values += 1 + (part.match(/[,{[]/g)?.length ?? 0);
    room -= Buffer.byteLength(part) + 1;
  }
  return parts.slice(0, -1).join(',');
}

/** A value that the schema may allow: as little as makes it differ from another of another index. */
export function smallValue(kind: ServedKind, schema: Schema, index: number): unknown {
  const { type, properties = {}, items } = kind.resolve(schema);
  switch (type) {
    case 'string':
      return `v${index.toString(36)}`;
    case 'integer':
    case 'number':
      return 1 + (index % 60_000);
    case 'boolean':
      return true;
    case 'array':
      return items ? [smallValue(kind, items, index)] : [];
    case 'object': {
      const named = [
        'name',
        'key',
        'ip',
        'type',
        'containerPort',
        'port',
        'uid',
        'verbs',
        'apiGroups',
        'resources',
        'topologyKey',
        'values',
        'operator',
      ];
      const present = named.filter((name) => Object.hasOwn(properties, name)).slice(0, 3);
      return Object.fromEntries(present.map((name) => [name, smallValue(kind, properties[name] ?? {}, index)]));
    }
    default:
      return index;
  }
}

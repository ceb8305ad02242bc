import { isJsonObject, ownMember } from '../json-object.ts';
import { parseJson } from '../parse-json.ts';
import { escapeHtml, formatGoNumber, quoteGo } from '../schema/go-format.ts';
import type { StructuralSchema } from '../schema/structural-schema.ts';

/*
 * Path elements as structured-merge-diff writes them: `f:name` for a field, `k:{"name":"app"}` for an item of a list of type
 * map, `v:"text"` for an item of a set, `i:0` for an item by its index. Values are JSON as Go writes it, keys sorted, so that
 * equal elements are equal texts.
 */

export function fieldElement(name: string): string {
  return `f:${name}`;
}

/** The name that a field element carries; undefined for other elements. */
export function fieldNameOf(element: string): string | undefined {
  return element.startsWith('f:') ? element.slice(2) : undefined;
}

/** A reason why an item has no path element, in the words of structured-merge-diff. */
export class ElementError extends Error {
  override readonly name = 'ElementError';
}

/**
 * How an item of a list of type map or set is identified. A key that the item lacks has its schema's default.
 *
 * @throws ElementError where the item cannot be one of such a list.
 */
export function itemElement(item: unknown, list: StructuralSchema): string {
  return list.listType === 'map' ? keyedElement(item, list) : valueElement(item);
}

function keyedElement(item: unknown, list: StructuralSchema): string {
  if (item === null) throw new ElementError('associative list with keys may not have a null element');
  if (!isJsonObject(item)) throw new ElementError('associative list with keys may not have non-map elements');
  const keys = list.listMapKeys.length > 1 ? [...list.listMapKeys].sort() : list.listMapKeys;
  let text = '';
  for (const key of keys) {
    const value = ownMember(item, key) ?? list.listElement.fields.get(key)?.source.default;
    // An item without a key is another item than one that has it.
    if (value === undefined) continue;
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${writeValue(value)}`;
  }
  if (text === '') {
    const names = `[${list.listMapKeys.map(quoteGo).join(' ')}]`;
    throw new ElementError(
      `associative list with keys has an element that omits all key fields ${names} (and doesn't have default values for any key fields)`,
    );
  }
  return `k:{${text}}`;
}

function valueElement(item: unknown): string {
  if (isJsonObject(item)) throw new ElementError("associative list without keys has an element that's a map type");
  if (Array.isArray(item)) throw new ElementError('not supported: associative list with lists as elements');
  if (item === null) throw new ElementError("associative list without keys has an element that's an explicit null");
  return `v:${writeValue(item)}`;
}

function writeValue(value: unknown): string {
  return escapeHtml(JSON.stringify(value));
}

/** As messages show it: `.spec`, `[name="app"]`, `[="text"]`, `[0]`. */
export function formatElement(element: string): string {
  const content = element.slice(2);
  switch (element[0]) {
    case 'f':
      return `.${content}`;
    case 'k': {
      const fields = Object.entries(parseJson(content) as Record<string, unknown>);
      return `[${fields.map(([name, value]) => `${name}=${formatScalar(value)}`).join(',')}]`;
    }
    case 'v':
      return `[=${formatScalar(parseJson(content))}]`;
    default:
      return `[${content}]`;
  }
}

export function formatPath(path: readonly string[]): string {
  return path.map(formatElement).join('');
}

function formatScalar(value: unknown): string {
  if (typeof value === 'string') return quoteGo(value);
  return typeof value === 'number' ? formatGoNumber(value) : JSON.stringify(value);
}

import type { FieldsV1 } from '../object.ts';
import { parseJson } from '../parse-json.ts';
import { type FieldSet, isEmptySet, makeNode } from './field-set.ts';

/**
 * The set that `fieldsV1` of a managedFields entry describes. Elements of kinds that are not known are dropped.
 *
 * @returns undefined for what is no such description.
 */
export function readFieldsV1(fields: unknown): FieldSet | undefined {
  if (fields === undefined || fields === null) return {};
  if (typeof fields !== 'object' || Array.isArray(fields)) return undefined;
  const children: Record<string, FieldSet> = {};
  for (const [text, below] of Object.entries(fields)) {
    if (text === '.') continue;
    const element = readElement(text);
    if (element === undefined) return undefined;
    if (element === '') continue;
    const set = readFieldsV1(below);
    if (!set) return undefined;
    const isMember = isEmptySet(below as object as FieldSet) || '.' in (below as object);
    const node = makeNode(isMember, set as Record<string, FieldSet>);
    if (node) children[element] = node;
  }
  return children;
}

/** The set as an entry stores it, elements sorted: itself, as far as it is so already. Each part is looked at once. */
export function writeFieldsV1(set: FieldSet): FieldsV1 {
  let last = '';
  let isSorted = true;
  let changed: FieldsV1 | undefined;
  for (const element in set) {
    const written = writeFieldsV1(set[element]!);
    if (written !== set[element]) (changed ??= {})[element] = written;
    if (element < last) isSorted = false;
    last = element;
  }
  return isSorted && !changed ? (set as FieldsV1) : sortedCopy({ ...set, ...changed } as FieldsV1);
}

function sortedCopy(written: FieldsV1): FieldsV1 {
  const fields: FieldsV1 = {};
  for (const element of sorted(Object.keys(written))) fields[element] = written[element]!;
  return fields;
}

/** Few texts are sorted faster by insertion than by the engine, and most sets are small. */
function sorted(elements: string[]): string[] {
  if (elements.length > 16) return elements.sort();
  for (let i = 1; i < elements.length; i++) {
    const element = elements[i]!;
    let at = i;
    for (; at > 0 && elements[at - 1]! > element; at--) elements[at] = elements[at - 1]!;
    elements[at] = element;
  }
  return elements;
}

/** The element as this package writes it, the empty text for one of an unknown kind, undefined for a malformed one. */
function readElement(text: string): string | undefined {
  if (text[1] !== ':') return undefined;
  const content = text.slice(2);
  switch (text[0]) {
    case 'f':
      return text;
    case 'i':
      return /^-?\d+$/.test(content) ? text : undefined;
    case 'k':
    case 'v':
      return isJson(content) ? text : undefined;
    default:
      return '';
  }
}

function isJson(text: string): boolean {
  try {
    parseJson(text);
    return true;
  } catch {
    return false;
  }
}

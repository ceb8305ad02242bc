import { cutForMessage } from '../cut-for-message.ts';
import type { StructuralSchema } from './structural-schema.ts';

/** Go's ways to print a value, in which Kubernetes' error messages are written. */

/** `%q`: double quotes, and Go's escapes for what cannot be printed. A long text is cut. */
export function quoteGo(text: string): string {
  const shown = cutForMessage(text);
  if (IS_PLAIN.test(shown)) return `"${shown}"`;
  const escaped = shown
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replace(UNPRINTABLE, (char) => ESCAPES[char] ?? escapeRune(char.codePointAt(0)!));
  return `"${escaped}"`;
}

/** Most texts need no escape. */
const IS_PLAIN = /^[ !#-[\]-~]*$/;

const UNPRINTABLE = /(?! )[\p{C}\p{Z}]/gu;

const ESCAPES: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

function escapeRune(rune: number): string {
  if (rune < 0x80) return `\\x${rune.toString(16).padStart(2, '0')}`;
  return rune < 0x10000 ? `\\u${rune.toString(16).padStart(4, '0')}` : `\\U${rune.toString(16).padStart(8, '0')}`;
}

/** `%v` of a number in decoded JSON, where an integer is an `int64` and anything else a `float64`. */
export function formatGoNumber(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? BigInt(value).toString() : formatGoFloat(value);
}

/** `%v` of a `float64`: the shortest form, with an exponent from a million on (`1e+06`) and below 0.0001. */
export function formatGoFloat(value: number): string {
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

/** `%v` of decoded JSON: `map[a:1 b:[x y]]`, `<nil>`. */
export function formatGoValue(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return formatGoNumber(value);
  if (Array.isArray(value)) return `[${value.map(formatGoValue).join(' ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  return `map[${sortedEntries(value)
    .map(([key, member]) => `${key}:${formatGoValue(member)}`)
    .join(' ')}]`;
}

/** `%#v` of decoded JSON: `map[string]interface {}{"a":1}`. */
export function formatGoSyntax(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)';
  if (typeof value === 'string') return quoteGo(value);
  if (typeof value === 'number') return formatGoNumber(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(formatGoSyntax).join(', ')}}`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const members = sortedEntries(value).map(([key, member]) => `${quoteGo(key)}:${formatGoSyntax(member)}`);
  return `map[string]interface {}{${members.join(', ')}}`;
}

/** `%T` of decoded JSON. */
export function goTypeOf(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'object' ? 'map[string]interface {}' : typeof value === 'boolean' ? 'bool' : typeof value;
}

/** What `encoding/json` calls a JSON value when it does not fit. */
export function jsonKindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (value === null) return 'null';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** The Go type of a field with this schema. */
export function goTypeOfSchema(schema: StructuralSchema): string {
  switch (schema.type) {
    case 'array':
      return `[]${schema.items ? goTypeOfSchema(schema.items) : 'interface {}'}`;
    case 'object':
      return schema.additional && schema.fields.size === 0
        ? `map[string]${goTypeOfSchema(schema.additional)}`
        : `v1.${schema.name}`;
    case 'integer':
      return schema.source.format ?? 'int64';
    case 'number':
      return 'float64';
    case 'boolean':
      return 'bool';
    default:
      return 'string';
  }
}

/** `json.Marshal`: keys sorted, and `<`, `>` and `&` escaped. */
export function formatGoJson(value: unknown): string {
  return escapeHtml(JSON.stringify(sortKeys(value) ?? null));
}

/** JSON as Go's encoder leaves it for a web page: without `<`, `>` and `&`. */
export function escapeHtml(json: string): string {
  if (!/[<>&]/.test(json)) return json;
  return json.replaceAll('<', '\\u003c').replaceAll('>', '\\u003e').replaceAll('&', '\\u0026');
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(sortedEntries(value).map(([key, member]) => [key, sortKeys(member)]));
}

function sortedEntries(object: object): [string, unknown][] {
  return Object.entries(object).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

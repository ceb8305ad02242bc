import { BOOL, INT, listOf, STRING } from '../typing/cel-type.ts';
import type { FunctionLibrary } from '../typing/overload.ts';
import type { Meter } from '../evaluate/meter.ts';
import { fail, type Value } from '../values/value.ts';

/** CEL's functions for texts, and its extension for them in version 2. Offsets count characters, not UTF-16. */
export function defineStrings(library: FunctionLibrary): void {
  const { method } = { method: library.method.bind(library) };
  type Two = readonly [string, string];
  method('contains', 'contains_string', [STRING, STRING], BOOL, ([text, part]: Two, meter) => {
    meter.work(text.length / 10);
    return text.includes(part);
  });
  method('startsWith', 'starts_with_string', [STRING, STRING], BOOL, ([text, part]: Two) => text.startsWith(part));
  method('endsWith', 'ends_with_string', [STRING, STRING], BOOL, ([text, part]: Two) => text.endsWith(part));
  method('charAt', 'string_char_at_int', [STRING, INT], STRING, ([text, at]: readonly [string, bigint], meter) => {
    const characters = charactersOf(text, meter);
    return characters[indexWithin(at, characters.length)] ?? '';
  });
  method('lowerAscii', 'string_lower_ascii', [STRING], STRING, ([text]: readonly [string], meter) => {
    meter.work(text.length / 10);
    return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
  });
  method('upperAscii', 'string_upper_ascii', [STRING], STRING, ([text]: readonly [string], meter) => {
    meter.work(text.length / 10);
    return text.replaceAll(/[a-z]+/g, (letters) => letters.toUpperCase());
  });
  method('trim', 'string_trim', [STRING], STRING, ([text]: readonly [string], meter) => {
    meter.work(text.length / 10);
    return trimSpace(text);
  });
  defineSearch(library);
  defineParts(library);
  library.define('strings.quote', 'strings_quote', [STRING], STRING, ([text]: readonly [string], meter) => {
    meter.work(text.length / 5);
    return quote(text);
  });
}

function defineSearch(library: FunctionLibrary): void {
  const TWO = [STRING, STRING];
  type Args = readonly [string, string, bigint?];
  const first = ([text, part, from = 0n]: Args, meter: Meter): Value => {
    if (part === '') return from;
    const characters = charactersOf(text, meter);
    const start = indexWithin(from, characters.length);
    return characterIndex(text, text.indexOf(part, characters.slice(0, start).join('').length));
  };
  library.method('indexOf', 'string_index_of_string', TWO, INT, first);
  library.method('indexOf', 'string_index_of_string_int', [...TWO, INT], INT, first);
  const last = ([text, part, from]: Args, meter: Meter): Value => {
    const characters = charactersOf(text, meter);
    const start = from === undefined ? characters.length : indexWithin(from, characters.length);
    if (part === '') return BigInt(start);
    return characterIndex(text, text.lastIndexOf(part, characters.slice(0, start).join('').length));
  };
  library.method('lastIndexOf', 'string_last_index_of_string', TWO, INT, last);
  library.method('lastIndexOf', 'string_last_index_of_string_int', [...TWO, INT], INT, last);
}

function defineParts(library: FunctionLibrary): void {
  const replace = ([text, old, now, count = -1n]: readonly [string, string, string, bigint?], meter: Meter): Value => {
    const parts = splitText(text, old, count < 0n ? -1 : Number(count) + 1, meter);
    // Of an empty text Go finds one before each character, and one at the end.
    const pieces = old === '' ? surround(text, count, meter) : parts;
    meter.work((text.length + (pieces.length - 1) * now.length) / 10);
    return pieces.join(now);
  };
  library.method('replace', 'string_replace_string_string', [STRING, STRING, STRING], STRING, replace);
  library.method('replace', 'string_replace_string_string_int', [STRING, STRING, STRING, INT], STRING, replace);
  const split = ([text, separator, count = -1n]: readonly [string, string, bigint?], meter: Meter): Value =>
    splitText(text, separator, Number(count), meter);
  library.method('split', 'string_split_string', [STRING, STRING], listOf(STRING), split);
  library.method('split', 'string_split_string_int', [STRING, STRING, INT], listOf(STRING), split);
  const substring = ([text, start, end]: readonly [string, bigint, bigint?], meter: Meter): Value => {
    const characters = charactersOf(text, meter);
    const from = indexWithin(start, characters.length);
    if (end === undefined) return characters.slice(from).join('');
    const to = indexWithin(end, characters.length);
    if (from > to) fail(`invalid substring range. start: ${from}, end: ${to}`);
    return characters.slice(from, to).join('');
  };
  library.method('substring', 'string_substring_int', [STRING, INT], STRING, substring);
  library.method('substring', 'string_substring_int_int', [STRING, INT, INT], STRING, substring);
  const join = ([list, separator = '']: readonly [readonly Value[], string?], meter: Meter): Value => {
    const texts = list.map((each) => (typeof each === 'string' ? each : fail('no such overload')));
    meter.work(texts.reduce((sum, text) => sum + text.length + separator.length, 0) / 10 + texts.length);
    return texts.join(separator);
  };
  library.method('join', 'list_join', [listOf(STRING)], STRING, join);
  library.method('join', 'list_join_string', [listOf(STRING), STRING], STRING, join);
}

function charactersOf(text: string, meter: Meter): string[] {
  meter.work(text.length / 2);
  return Array.from(text);
}

function indexWithin(index: bigint, size: number): number {
  return index >= 0n && index <= BigInt(size) ? Number(index) : fail(`index out of range: ${index}`);
}

function characterIndex(text: string, index: number): bigint {
  return index < 0 ? -1n : BigInt(Array.from(text.slice(0, index)).length);
}

/** At most `limit` parts, all if it is below 0. */
function splitText(text: string, separator: string, limit: number, meter: Meter): string[] {
  if (limit === 0) return [];
  meter.work(text.length / 10);
  const parts = separator === '' ? charactersOf(text, meter) : text.split(separator);
  meter.work(parts.length);
  if (limit < 0 || parts.length <= limit) return parts;
  return [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)];
}

function surround(text: string, count: bigint, meter: Meter): string[] {
  const characters = charactersOf(text, meter);
  const times = count < 0n ? characters.length + 1 : Math.min(Number(count), characters.length + 1);
  if (times === 0) return [text];
  return ['', ...characters.slice(0, times - 1), characters.slice(times - 1).join('')];
}

/** Unicode's white space, which is a little different from JavaScript's. */
function isSpace(char: string): boolean {
  return char !== '\ufeff' && (char === '\u0085' || char.trim() === '');
}

function trimSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text[start]!)) start++;
  while (end > start && isSpace(text[end - 1]!)) end--;
  return text.slice(start, end);
}

const ESCAPED: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

function quote(text: string): string {
  return `"${text.toWellFormed().replaceAll(/["\\]|\p{Cc}/gu, (char) => ESCAPED[char] ?? char)}"`;
}

/** Lines are folded at the first space behind this column. */
const BEST_WIDTH = 80;

/** Words that YAML 1.1 does not take for text. */
const RESERVED =
  /^(?:|~|null|Null|NULL|<<|y|Y|yes|Yes|YES|on|On|ON|n|N|no|No|NO|off|Off|OFF|true|True|TRUE|false|False|FALSE)$/;
const NUMBER = [
  /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/,
  /^[-+]?(?:0[xX][0-9a-fA-F_]+|0[oO]?[0-7_]+|0[bB][01_]+|[0-9][0-9_]*)$/,
  /^[-+]?(?:\.inf|\.Inf|\.INF)$|^(?:\.nan|\.NaN|\.NAN)$/,
  // Sixties: 12:30:45.
  /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/,
];
const TIMESTAMP =
  /^\d{4}-\d{1,2}-\d{1,2}(?:(?:[Tt]|[ \t]+)\d{1,2}:\d\d:\d\d(?:\.\d+)?(?:[ \t]*(?:Z|[-+]\d\d?(?::?\d\d)?))?)?$/;

const INDICATOR_AT_START = /^(?:[#,[\]{}&*!|>'"%@`]|[?:-](?:\s|$)|---|\.\.\.)/;
const INDICATOR_WITHIN = /.:(?:\s|$)|\s#/s;
const UNPRINTABLE = /[^\n\x20-\x7e\x85\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]/u;

export interface ScalarPlace {
  /** Spaces before the lines after the first. */
  indent: number;
  /** Where the text begins, counted from the left. */
  column: number;
  /** Keys stay on one line. */
  isKey: boolean;
}

/**
 * A string as go-yaml writes it: plain where it is read back as the same, else quoted; of several lines as a block; folded behind
 * the 80th column.
 */
export function yamlString(text: string, place: ScalarPlace): string {
  const hasBreaks = text.includes('\n');
  const isOdd = UNPRINTABLE.test(text) || / \n/.test(text);
  const endsBlank = text.endsWith(' ');
  if (hasBreaks && !place.isKey && !isOdd && !endsBlank) return literal(text, place.indent);
  if (hasBreaks || isOdd || mustBeQuoted(text)) return folded(doubleQuoted(text), place, '\\');
  const isBare = !INDICATOR_AT_START.test(text) && !INDICATOR_WITHIN.test(text) && !endsBlank && !text.startsWith(' ');
  if (isBare) return folded(text, place, '');
  return folded(`'${text.replaceAll("'", "''")}'`, place, '');
}

/** Whether it would be read back as something that is no text. */
function mustBeQuoted(text: string): boolean {
  return RESERVED.test(text) || TIMESTAMP.test(text) || NUMBER.some((pattern) => pattern.test(text));
}

function literal(text: string, indent: number): string {
  const hint = /^[ \n]/.test(text) ? '2' : '';
  const chomp = !text.endsWith('\n') ? '-' : text.endsWith('\n\n') || text === '\n' ? '+' : '';
  const body = text.endsWith('\n') ? text.slice(0, -1) : text;
  const margin = ' '.repeat(indent);
  return `|${hint}${chomp}\n${body
    .split('\n')
    .map((line) => (line === '' ? '' : margin + line))
    .join('\n')}`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\0': '\\0',
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '\x1b': '\\e',
  '"': '\\"',
  '\\': '\\\\',
  '\x85': '\\N',
  '\u2028': '\\L',
  '\u2029': '\\P',
};

function doubleQuoted(text: string): string {
  const escaped = Array.from(text).map((character) => {
    const known = ESCAPES[character];
    if (known !== undefined) return known;
    if (!UNPRINTABLE.test(character)) return character;
    const code = character.codePointAt(0) ?? 0;
    const [letter, width] = code <= 0xff ? ['x', 2] : code <= 0xffff ? ['u', 4] : ['U', 8];
    return `\\${letter}${code.toString(16).toUpperCase().padStart(Number(width), '0')}`;
  });
  return `"${escaped.join('')}"`;
}

/**
 * Breaks the line at the first single space behind the width.
 *
 * @param mark stands before a space that would be lost at the beginning of a line
 */
function folded(text: string, { column, indent, isKey }: ScalarPlace, mark: string): string {
  if (isKey || column + text.length <= BEST_WIDTH) return text;
  let at = column;
  let result = '';
  for (const [i, character] of Array.from(text).entries()) {
    const isEdge = i <= 1 || i >= text.length - 2;
    const isSingle = text[i - 1] !== ' ' && (mark !== '' || text[i + 1] !== ' ');
    if (character === ' ' && at > BEST_WIDTH && isSingle && (!isEdge || mark === '')) {
      result += `\n${' '.repeat(indent)}${text[i + 1] === ' ' ? mark : ''}`;
      at = indent;
    } else {
      result += character;
      at++;
    }
  }
  return result;
}

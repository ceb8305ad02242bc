import type { GlobPart, ParameterDefaultOperation, ParameterExpansionPart, WordPart } from 'unbash';
import { absolutePath } from '../file-system.ts';
import { evaluate } from './arithmetic.ts';
import type { Shell } from './shell.ts';
import { ShellError } from './shell-error.ts';

/** A piece of an expanded word. Only a piece that was not quoted is split at blanks, or is a pattern. */
interface Piece {
  text: string;
  split: boolean;
  pattern: boolean;
}

/** Ends the field, as between the parameters of `"$@"`. */
const NEXT_FIELD = Symbol('next field');

type Pieces = (Piece | typeof NEXT_FIELD)[];

/** A word, or a part of an arithmetic expression or here document that is expanded like one. */
export interface Expandable {
  readonly value: string;
  /** As it was written, if a tilde at its start is the home directory. */
  readonly text?: string;
  readonly parts?: readonly WordPart[] | undefined;
}

/** The fields that words expand to, split at blanks and matched against files. */
export async function expandWords(shell: Shell, words: readonly Expandable[]): Promise<string[]> {
  const result: string[] = [];
  for (const word of words) {
    for (const field of fieldsOf(await piecesOf(shell, word), shell.get('IFS') ?? ' \t\n')) {
      const paths = field.some(({ pattern }) => pattern) ? matchPaths(shell, patternOf(field)) : [];
      if (paths.length > 0) result.push(...paths);
      else result.push(textOf(field));
    }
  }
  return result;
}

/** See `Shell.expand`. */
export async function expandText(shell: Shell, word: Expandable): Promise<string> {
  return textOf(await piecesOf(shell, word));
}

/** The source of the regular expression for the pattern that a word expands to. */
export async function expandPattern(shell: Shell, word: Expandable): Promise<string> {
  return patternOf(await piecesOf(shell, word));
}

/** Whether the pattern matches the whole text. */
export function matches(pattern: string, text: string): boolean {
  // oxlint-disable-next-line asterism/linear-expression -- the pattern is the user's own, and only a simulated pod waits for it
  return new RegExp(`^(?:${pattern})$`, 's').test(text);
}

function textOf(pieces: Pieces): string {
  return pieces.map((piece) => (piece === NEXT_FIELD ? ' ' : piece.text)).join('');
}

function patternOf(pieces: Pieces): string {
  return pieces
    .map((piece) => {
      if (piece === NEXT_FIELD) return ' ';
      return piece.pattern ? piece.text.replaceAll(/\[[^\]]+\]|[\s\S]/g, globSource) : escaped(piece.text);
    })
    .join('');
}

function escaped(text: string): string {
  return text.replaceAll(/[-$()*+.?[\\\]^{|}]/g, '\\$&');
}

function globSource(glob: string): string {
  if (glob === '*') return '.*';
  if (glob === '?') return '.';
  return glob.length > 1 ? glob.replaceAll('\\', '\\\\').replace(/^\[!/, '[^') : escaped(glob);
}

function fieldsOf(pieces: Pieces, separators: string): Piece[][] {
  const fields: Piece[][] = [];
  let open: Piece[] | undefined;
  const add = (piece: Piece): unknown => (open ? open.push(piece) : fields.push((open = [piece])));
  for (const piece of pieces) {
    if (piece === NEXT_FIELD) open = undefined;
    else if (!piece.split) add(piece);
    else {
      const texts = splitFields(piece.text, separators);
      for (const [index, text] of texts.entries()) {
        if (index > 0) open = undefined;
        if (text !== '' || (index > 0 && index < texts.length - 1)) add({ ...piece, text });
      }
    }
  }
  return fields;
}

/** Splits at the characters of `IFS`, and at runs of its blanks. An empty text comes first or last if a separator does. */
export function splitFields(text: string, separators: string, limit = Infinity): string[] {
  if (separators === '') return [text];
  const one = `(?=[${escaped(separators)}])`;
  // oxlint-disable-next-line asterism/linear-expression -- classes of characters that do not overlap
  const separator = new RegExp(`(?:${one}\\s)+|${one}\\S`, 'g');
  const fields: string[] = [];
  let from = 0;
  for (const match of text.matchAll(separator).take(limit - 1)) {
    fields.push(text.slice(from, match.index));
    from = match.index + match[0].length;
  }
  return [...fields, text.slice(from)];
}

async function piecesOf(shell: Shell, { value, text = '', parts }: Expandable): Promise<Pieces> {
  const pieces = parts ? await expandParts(shell, parts, false) : [literal(value)];
  const [first] = pieces;
  if (/^~(?:\/|$)/.test(text) && first && first !== NEXT_FIELD) {
    first.text = first.text.replace('~', () => shell.get('HOME') ?? '~');
  }
  return pieces;
}

function literal(text: string): Piece {
  return { text, split: false, pattern: false };
}

function valued(text: string | undefined, quoted: boolean): Piece {
  return { text: text ?? '', split: !quoted, pattern: !quoted && /[*?[]/.test(text ?? '') };
}

async function expandParts(shell: Shell, parts: readonly WordPart[], quoted: boolean): Promise<Pieces> {
  const pieces: Pieces = [];
  for (const part of parts) pieces.push(...(await expandPart(shell, part, quoted)));
  return pieces;
}

async function expandPart(shell: Shell, part: WordPart, quoted: boolean): Promise<Pieces> {
  switch (part.type) {
    case 'Glob':
      return [{ text: await globText(shell, part), split: false, pattern: true }];
    case 'DoubleQuoted':
    case 'LocaleString':
      return [...(part.parts.some(isAll) ? [] : [literal('')]), ...(await expandParts(shell, part.parts, true))];
    case 'SimpleExpansion':
      return isAll(part) ? allOf(shell, quoted) : [valued(shell.get(part.text.slice(1)), quoted)];
    case 'ParameterExpansion':
      return expandParameter(shell, part, quoted);
    case 'CommandExpansion':
      return [valued(part.script && (await shell.substitute(part.script)), quoted)];
    case 'ArithmeticExpansion':
      return [valued(part.expression && String(await evaluate(shell, part.expression)), quoted)];
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return [literal(part.value)];
    default:
      return [literal(part.text)];
  }
}

/** The text of a pattern. A text in brackets expands too. */
async function globText(shell: Shell, { text, parts }: GlobPart): Promise<string> {
  return parts ? `[${await shell.expand({ value: '', parts })}]` : text;
}

function isAll(part: WordPart): boolean {
  return part.type === 'SimpleExpansion' && part.text === '$@';
}

function allOf({ positional }: Shell, quoted: boolean): Pieces {
  return positional.flatMap((each, index) => [...(index > 0 ? [NEXT_FIELD] : []), valued(each, quoted)] as Pieces);
}

async function expandParameter(shell: Shell, part: ParameterExpansionPart, quoted: boolean): Promise<Pieces> {
  const { parameter, prefix, operation, text } = part;
  const value = shell.get(parameter) ?? '';
  if (operation?.type === 'Default') return expandDefault(shell, part, operation, quoted);
  if (operation?.type === 'Remove') {
    return [valued(remove(value, operation.operator, await expandPattern(shell, operation.operand)), quoted)];
  }
  if (operation || prefix === '!') throw new ShellError(`bad substitution: ${text}`);
  const { length } = parameter === '@' ? shell.positional : Array.from(value);
  return [valued(prefix === '#' ? String(length) : value, quoted)];
}

/** `${X-word}`, `${X=word}`, `${X+word}` and `${X?word}`; a colon makes an empty value count as unset. */
async function expandDefault(
  shell: Shell,
  { parameter }: ParameterExpansionPart,
  { operator, operand }: ParameterDefaultOperation,
  quoted: boolean,
): Promise<Pieces> {
  const value = shell.get(parameter);
  const set = value !== undefined && !(operator.startsWith(':') && value === '');
  const kind = operator.at(-1);
  if (kind === '+' && !set) return [];
  if (kind !== '+' && set) return [valued(value, quoted)];
  if (kind === '?') throw new ShellError(`${parameter}: ${(await shell.expand(operand)) || 'parameter not set'}`);
  if (kind === '=') shell.set(parameter, await shell.expand(operand));
  if (kind === '=') return [valued(shell.get(parameter), quoted)];
  return operand.parts ? expandParts(shell, operand.parts, quoted) : [valued(operand.value, quoted)];
}

/** Removes the shortest or longest prefix (`#`, `##`) or suffix (`%`, `%%`) that matches. */
function remove(value: string, operator: string, pattern: string): string {
  const lengths = Array.from({ length: value.length + 1 }, (_, index) => index);
  const ordered = operator === '##' || operator === '%' ? lengths.toReversed() : lengths;
  const prefix = operator.startsWith('#');
  const cut = ordered.find((at) => matches(pattern, prefix ? value.slice(0, at) : value.slice(at)));
  if (cut === undefined) return value;
  return prefix ? value.slice(cut) : value.slice(0, cut);
}

/** The paths that match the pattern, in order. A name that starts with a dot matches only a pattern that does. */
function matchPaths({ task }: Shell, pattern: string): string[] {
  let found = [pattern.startsWith('/') ? '/' : ''];
  for (const step of pattern.split('/').filter((each) => each !== '')) {
    found = found.flatMap((base) => {
      const node = task.machine.files.find(absolutePath(task.directory, base));
      const names = node?.kind === 'directory' ? [...node.entries.keys(), '.', '..'] : [];
      const fitting = names.filter((name) => matches(step, name) && name.startsWith('.') === step.startsWith('\\.'));
      return fitting.toSorted().map((name) => `${base}${name}/`);
    });
  }
  return found.map((path) => path.replace(/\/$/, ''));
}

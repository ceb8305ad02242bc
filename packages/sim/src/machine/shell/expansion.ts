import type { GlobPart, ParameterExpansionPart, Word, WordPart } from 'unbash';
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
  const pieces: Pieces = [];
  if (parts) await expandParts(shell, parts, false, pieces);
  else pieces.push({ text: value, split: false, pattern: false });
  const [first] = pieces;
  if (/^~(?:\/|$)/.test(text) && first && first !== NEXT_FIELD) {
    first.text = first.text.replace('~', () => shell.get('HOME') ?? '~');
  }
  return pieces;
}

async function expandParts(shell: Shell, parts: readonly WordPart[], quoted: boolean, pieces: Pieces): Promise<void> {
  const literal = (text: string): unknown => pieces.push({ text, split: false, pattern: false });
  const value = (text: string): unknown =>
    pieces.push({ text, split: !quoted, pattern: !quoted && /[*?[]/.test(text) });
  for (const part of parts) {
    switch (part.type) {
      case 'Glob':
        pieces.push({ text: await globText(shell, part), split: false, pattern: true });
        break;
      case 'DoubleQuoted':
      case 'LocaleString':
        if (part.parts.length !== 1 || !isAll(part.parts[0])) literal('');
        await expandParts(shell, part.parts, true, pieces);
        break;
      case 'SimpleExpansion':
        if (isAll(part)) addAll(shell, value, pieces);
        else value(shell.get(part.text.slice(1)) ?? '');
        break;
      case 'ParameterExpansion':
        await expandParameter(shell, part, { quoted, pieces, value });
        break;
      case 'CommandExpansion':
        value(part.script ? await shell.substitute(part.script) : '');
        break;
      case 'ArithmeticExpansion':
        value(String(part.expression ? await evaluate(shell, part.expression) : 0));
        break;
      case 'Literal':
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        literal(part.value);
        break;
      default:
        literal(part.text);
    }
  }
}

/** The text of a pattern. What is in brackets expands too. */
async function globText(shell: Shell, { text, parts }: GlobPart): Promise<string> {
  return parts ? `[${await expandText(shell, { value: '', parts })}]` : text;
}

function isAll(part: WordPart | undefined): boolean {
  return part?.type === 'SimpleExpansion' && part.text === '$@';
}

function addAll(shell: Shell, value: (text: string) => unknown, pieces: Pieces): void {
  for (const [index, each] of shell.positional.entries()) {
    if (index > 0) pieces.push(NEXT_FIELD);
    value(each);
  }
}

interface ExpansionSite {
  quoted: boolean;
  pieces: Pieces;
  value: (text: string) => unknown;
}

async function expandParameter(
  shell: Shell,
  { parameter, prefix, operation, text }: ParameterExpansionPart,
  { quoted, pieces, value }: ExpansionSite,
): Promise<void> {
  if (operation?.type === 'Default') return expandDefault(shell, parameter, operation, { quoted, pieces, value });
  const found = shell.get(parameter) ?? '';
  if (prefix === '#' && !operation)
    value(String(parameter === '@' ? shell.positional.length : Array.from(found).length));
  else if (operation?.type === 'Remove')
    value(remove(found, operation.operator, await expandPattern(shell, operation.operand)));
  else if (!operation && !prefix) value(found);
  else throw new ShellError(`bad substitution: ${text}`);
}

/** `${X-word}`, `${X=word}`, `${X+word}` and `${X?word}`; a colon makes an empty value count as unset. */
async function expandDefault(
  shell: Shell,
  name: string,
  { operator, operand }: { operator: string; operand: Word },
  { quoted, pieces, value }: ExpansionSite,
): Promise<void> {
  const found = shell.get(name);
  const set = found !== undefined && !(operator.startsWith(':') && found === '');
  const kind = operator.at(-1);
  if (kind === '+' ? !set : set) return void value(kind === '+' ? '' : (found ?? ''));
  if (kind === '=') {
    shell.set(name, await expandText(shell, operand));
    value(shell.get(name) ?? '');
  } else if (kind === '?') {
    throw new ShellError(`${name}: ${(await expandText(shell, operand)) || 'parameter not set'}`);
  } else {
    await expandParts(shell, operand.parts ?? [], quoted, pieces);
    if (!operand.parts) value(operand.value);
  }
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

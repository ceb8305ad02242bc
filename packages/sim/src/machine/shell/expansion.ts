import type { FileSystem } from '../file-system.ts';
import { evaluate } from './arithmetic.ts';
import { isPattern, literalPattern, matchPaths, patternExpression } from './pattern.ts';
import type { Script, Word, WordPart } from './syntax.ts';

/** What words are expanded with: the shell that runs them. */
export interface ExpansionScope {
  readonly files: FileSystem;
  readonly directory: string;
  readonly positional: readonly string[];
  get(name: string): string | undefined;
  set(name: string, value: string): void;
  /** The output of a command substitution, without the newlines at its end. */
  substitute(body: Script): Promise<string>;
}

/** A parameter that must be set is not, or an expression is none: the shell ends. */
export class ExpansionError extends Error {
  override readonly name = 'ExpansionError';
}

/** A field in the making: its text, and the pattern in which what was quoted stands for itself. */
interface Field {
  text: string;
  pattern: string;
}

/** The fields that words become: parameters, commands and arithmetic, split at blanks, and matched against files. */
export async function expandWords(scope: ExpansionScope, words: readonly Word[]): Promise<string[]> {
  const result: string[] = [];
  for (const word of words) {
    for (const field of await new Expansion(scope).fields(word)) {
      const paths = isPattern(field.pattern) ? matchPaths(scope.files, scope.directory, field.pattern) : [];
      result.push(...(paths.length > 0 ? paths : [field.text]));
    }
  }
  return result;
}

/** The one text that a word becomes, neither split nor matched. */
export async function expandText(scope: ExpansionScope, word: Word): Promise<string> {
  return (await new Expansion(scope).whole(word)).text;
}

/** The pattern that a word becomes; what was quoted stands for itself. */
export async function expandPattern(scope: ExpansionScope, word: Word): Promise<string> {
  return (await new Expansion(scope).whole(word)).pattern;
}

class Expansion {
  readonly #scope: ExpansionScope;
  readonly #fields: Field[] = [];
  #open: Field | undefined;

  constructor(scope: ExpansionScope) {
    this.#scope = scope;
  }

  async fields(word: Word): Promise<readonly Field[]> {
    for (const [index, part] of word.entries()) await this.#add(part, index === 0, true);
    this.#close();
    return this.#fields;
  }

  async whole(word: Word): Promise<Field> {
    for (const [index, part] of word.entries()) await this.#add(part, index === 0, false);
    return this.#open ?? { text: '', pattern: '' };
  }

  async #add(part: WordPart, first: boolean, split: boolean): Promise<void> {
    const literal = part.quoted;
    if (part.kind === 'text') {
      const home = first && !literal && /^~(?=\/|$)/.test(part.text) ? (this.#scope.get('HOME') ?? '~') : undefined;
      if (home !== undefined) this.#append(home, true);
      return this.#append(home === undefined ? part.text : part.text.slice(1), literal);
    }
    if (part.kind === 'parameter' && part.operator === '' && part.name === '@' && split) return this.#each(literal);
    if (part.kind === 'parameter' && /^:?[-+]$/.test(part.operator) && !literal && split) {
      const inner = this.#chosen(part);
      if (inner) {
        for (const [index, each] of inner.entries()) await this.#add(each, index === 0, true);
        return;
      }
    }
    const value = await this.#value(part);
    if (literal || !split) return this.#append(value, literal);
    this.#split(value);
  }

  #append(text: string, literal: boolean): void {
    this.#open ??= { text: '', pattern: '' };
    this.#open.text += text;
    this.#open.pattern += literal ? literalPattern(text) : text;
  }

  #close(): void {
    if (this.#open) this.#fields.push(this.#open);
    this.#open = undefined;
  }

  #each(quoted: boolean): void {
    for (const [index, value] of this.#scope.positional.entries()) {
      if (index > 0) this.#close();
      if (quoted) this.#append(value, true);
      else this.#split(value);
    }
  }

  #split(value: string): void {
    const separators = this.#scope.get('IFS') ?? ' \t\n';
    if (separators === '') return value === '' ? undefined : this.#append(value, false);
    const blank = separators.replaceAll(/[^ \t\n]/g, '');
    let text = '';
    let pending = false;
    const flush = (force: boolean): void => {
      if (text !== '' || force) this.#append(text, false);
      if (text !== '' || force || this.#open) this.#close();
      text = '';
    };
    for (const char of value) {
      if (!separators.includes(char)) {
        if (pending) flush(false);
        pending = false;
        text += char;
      } else if (blank.includes(char)) {
        pending = true;
      } else {
        flush(true);
        pending = false;
      }
    }
    if (text !== '') this.#append(text, false);
    if (pending) this.#close();
  }

  /** The operand where `${X-operand}` and the like stand for it. */
  #chosen(part: WordPart & { kind: 'parameter' }): Word | undefined {
    const value = this.#parameter(part.name);
    const set = value !== undefined && !(part.operator.startsWith(':') && value === '');
    return set === part.operator.endsWith('+') ? part.operand : undefined;
  }

  #parameter(name: string): string | undefined {
    if (name !== '@' && name !== '*') return this.#scope.get(name);
    const { positional } = this.#scope;
    return positional.length === 0 ? undefined : positional.join(' ');
  }

  async #value(part: Exclude<WordPart, { kind: 'text' }>): Promise<string> {
    if (part.kind === 'command') return this.#scope.substitute(part.body);
    if (part.kind === 'arithmetic') {
      const text = await expandText(this.#scope, part.expression);
      try {
        return String(evaluate(text, this.#scope));
      } catch (error) {
        throw new ExpansionError((error as Error).message, { cause: error });
      }
    }
    return this.#operated(part);
  }

  async #operated(part: WordPart & { kind: 'parameter' }): Promise<string> {
    const { name, operator, operand } = part;
    const value = this.#parameter(name);
    const kind = operator.replace(':', '');
    const set = value !== undefined && !(operator.startsWith(':') && value === '');
    if (operator === '') return value ?? '';
    if (operator === 'length') {
      return String(name === '@' || name === '*' ? this.#scope.positional.length : Array.from(value ?? '').length);
    }
    if (kind === '+') return set ? expandText(this.#scope, operand) : '';
    if ('%#'.includes(kind.charAt(0))) return trim(value ?? '', kind, await expandPattern(this.#scope, operand));
    if (set) return value;
    const text = await expandText(this.#scope, operand);
    if (kind === '?') throw new ExpansionError(`${name}: ${text === '' ? 'parameter not set' : text}`);
    if (kind === '=') this.#scope.set(name, text);
    return text;
  }
}

/** `${X%pattern}` and its like. */
function trim(value: string, operator: string, pattern: string): string {
  if (operator.startsWith('#')) {
    return value.replace(patternExpression(pattern, { lazy: operator === '#', end: false }), '');
  }
  const expression = patternExpression(pattern);
  const lengths = Array.from({ length: value.length + 1 }, (_, index) => index);
  const start = (operator === '%' ? lengths.toReversed() : lengths).find((at) => expression.test(value.slice(at)));
  return start === undefined ? value : value.slice(0, start);
}

import { badRequest, type StatusError } from '@asterism/machinery';
import { type FieldOperator, type FieldRequirement, isStoreError, parseFieldPath } from '@asterism/store';

/** Longer ones first, where one begins like another. */
const COMPARISONS: readonly [string, FieldOperator][] = [
  ['==', '='],
  ['!=', '!='],
  ['<=', '<='],
  ['>=', '>='],
  ['=', '='],
  ['<', '<'],
  ['>', '>'],
];

/**
 * Reads a field selector: terms, separated by commas, that all have to hold.
 *
 *     term  = path ( "=" | "==" | "!=" | "<" | "<=" | ">" | ">=" ) value
 *           | path ( "in" | "notin" ) "(" value { "," value } ")"
 *           | path | "!" path | path "exists" | path "!exists"
 *
 * A path is a JSON path, with or without its first dot: `status.phase`, `.spec.containers[].image`,
 * `.metadata.annotations['a.b/c']`. A value may stand in quotes of either kind; in quotes or not, `\` takes the special meaning
 * from the character behind it. Without quotes a value ends at a comma, and has none of `=<>` in it.
 *
 * @throws StatusError 400 that says what is wrong, and where.
 */
export function parseFieldSelector(text: string): FieldRequirement[] {
  return new Parser(text).requirements();
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  requirements(): FieldRequirement[] {
    const requirements: FieldRequirement[] = [];
    do requirements.push(this.#requirement());
    while (this.#take(','));
    if (this.#peek() !== '') throw this.#wrong("expected ',' or the end");
    return requirements;
  }

  #requirement(): FieldRequirement {
    if (this.#take('!')) return { path: this.#path(), operator: '!exists', values: [] };
    const path = this.#path();
    if (this.#peek() === '' || this.#peek() === ',') return { path, operator: 'exists', values: [] };
    for (const [token, operator] of COMPARISONS) {
      if (this.#take(token)) return { path, operator, values: [this.#value(path)] };
    }
    for (const operator of ['!exists', 'exists'] as const) {
      if (this.#takeWord(operator)) return { path, operator, values: [] };
    }
    for (const operator of ['notin', 'in'] as const) {
      if (this.#takeWord(operator)) return { path, operator, values: this.#set(path) };
    }
    throw this.#wrong('expected an operator (=, !=, <, <=, >, >=, in, notin, exists, !exists)');
  }

  /** To where an operator or a term's end can stand: brackets and quotes may hold anything. */
  #path(): string {
    this.#skipSpace();
    const found =
      /^(?:\[(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\]'"])*\]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[\w.$@/:-])+/s.exec(
        this.#text.slice(this.#at),
      );
    if (!found) throw this.#wrong('expected the path of a field');
    this.#at += found[0].length;
    const path = /^[.[]/.test(found[0]) ? found[0] : `.${found[0]}`;
    this.#requirePath(path);
    return path;
  }

  #requirePath(path: string): void {
    try {
      parseFieldPath(path);
    } catch (error) {
      throw isStoreError(error, 'INVALID_QUERY') ? badRequest(`fieldSelector: ${error.message}`) : error;
    }
  }

  #set(path: string): string[] {
    if (!this.#take('(')) throw this.#wrong("expected '('");
    const values: string[] = [];
    do values.push(this.#value(path));
    while (this.#take(','));
    if (!this.#take(')')) throw this.#wrong("expected ',' or ')'");
    return values;
  }

  #value(path: string): string {
    this.#skipSpace();
    const rest = this.#text.slice(this.#at);
    const quoted = /^'((?:[^'\\]|\\.)*)'|^"((?:[^"\\]|\\.)*)"/s.exec(rest);
    const found = quoted ?? /^((?:\\.|[^,()=<>'"\\])*)/s.exec(rest);
    const value = found?.[1] ?? found?.[2] ?? '';
    if (!quoted && value.trim() === '') {
      throw this.#wrong(`expected a value ('' is the empty text; !${path} finds what has no such field)`);
    }
    this.#at += found?.[0].length ?? 0;
    return (quoted ? value : value.trim()).replaceAll(/\\(.)/gs, '$1');
  }

  /** The next character that is no white space; `''` at the end. */
  #peek(): string {
    this.#skipSpace();
    return this.#text.charAt(this.#at);
  }

  #take(token: string): boolean {
    this.#skipSpace();
    const there = this.#text.startsWith(token, this.#at);
    if (there) this.#at += token.length;
    return there;
  }

  #takeWord(word: string): boolean {
    const behind = this.#text.charAt(this.#at + word.length);
    return /[\s,(]|^$/.test(behind) && this.#take(word);
  }

  #skipSpace(): void {
    while (/\s/.test(this.#text.charAt(this.#at))) this.#at += 1;
  }

  #wrong(why: string): StatusError {
    const where = this.#at >= this.#text.length ? 'at its end' : `before ${JSON.stringify(this.#text.slice(this.#at))}`;
    return badRequest(`fieldSelector ${JSON.stringify(this.#text)}: ${why} ${where}`);
  }
}

import { isJsonObject, ownMember } from './json-object.ts';
import { parseJson } from './parse-json.ts';
import { badRequest } from './status.ts';

/** Finds the values at a path in an object, in document order; none where the path leads nowhere. */
export type JsonPath = (object: unknown) => unknown[];

/** One step from a value to those that it leads to. */
type Step = (value: unknown) => unknown[];

/**
 * Compiles the JSONPath that Kubernetes has in printer columns, `selectableFields` and `kubectl -o jsonpath`:
 * `.spec.replicas`, `['a.b']`, `.a\.b`, `[0]`, `[-1]`, `[1:3]`, `[*]`, `..name`, unions `['a','b']` and filters
 * `[?(@.type=="Ready")]` with `==`, `!=`, `<`, `<=`, `>`, `>=` or, without one, the test that something is there. Braces
 * around it and a leading `$` may be left out. The text templates of kubectl (`range`, literal text) are not part of it.
 *
 * @throws StatusError 400 that says what is wrong with the path, and where.
 */
export function compileJsonPath(path: string): JsonPath {
  const inner = /^\{(.*)\}$/s.exec(path.trim())?.[1] ?? path.trim();
  const steps = new Parser(path, inner.replace(/^\$/, '')).steps();
  return (object) => steps.reduce<unknown[]>((values, step) => values.flatMap(step), [object]);
}

class Parser {
  readonly #path: string;
  readonly #text: string;
  #at = 0;

  constructor(path: string, text: string) {
    this.#path = path;
    this.#text = text;
  }

  steps(): Step[] {
    const steps: Step[] = [];
    if (this.#at < this.#text.length && !/[.[]/.test(this.#text.charAt(this.#at))) steps.push(this.#name());
    while (this.#at < this.#text.length) steps.push(...this.#segment());
    return steps;
  }

  #segment(): Step[] {
    if (this.#take('..')) return [descendants, this.#peek() === '[' ? this.#bracket() : this.#name()];
    if (this.#peek() === '[') return [this.#bracket()];
    if (!this.#take('.')) throw this.#wrong("expected '.' or '['");
    if (this.#at === this.#text.length) return [];
    return [this.#peek() === '[' ? this.#bracket() : this.#name()];
  }

  #name(): Step {
    if (this.#take('*')) return children;
    const found = /^(?:\\.|[^.[\]{}()\s\\])+/s.exec(this.#text.slice(this.#at));
    if (!found) throw this.#wrong('expected the name of a field');
    this.#at += found[0].length;
    return member(found[0].replaceAll(/\\(.)/gs, '$1'));
  }

  #bracket(): Step {
    const start = this.#at;
    const content = this.#bracketContent();
    if (content === '*') return children;
    const filter = /^\?\((.*)\)$/s.exec(content)?.[1];
    if (filter !== undefined) return compileFilter(filter.trim());
    const parts = splitOutsideQuotes(content).map((part) => selector(part.trim()));
    if (!parts.every((part) => part !== undefined)) {
      this.#at = start;
      throw this.#wrong("expected an index, a slice, a name in quotes, '*' or a filter in the brackets");
    }
    return (value) => parts.flatMap((part) => part(value));
  }

  /** What stands between the bracket here and the one that closes it; brackets in quotes and in filters do not count. */
  #bracketContent(): string {
    let depth = 0;
    for (let i = this.#at; i < this.#text.length; i += 1) {
      const character = this.#text.charAt(i);
      if (character === "'" || character === '"') i = this.#endOfQuote(i, character);
      else if (character === '[') depth += 1;
      else if (character === ']') depth -= 1;
      if (depth > 0) continue;
      const content = this.#text.slice(this.#at + 1, i).trim();
      this.#at = i + 1;
      return content;
    }
    throw this.#wrong("the bracket is not closed by ']'");
  }

  #endOfQuote(start: number, quote: string): number {
    for (let i = start + 1; i < this.#text.length; i += 1) {
      if (this.#text.charAt(i) === '\\') i += 1;
      else if (this.#text.charAt(i) === quote) return i;
    }
    throw this.#wrong(`the text in ${quote} is not closed`);
  }

  #peek(): string {
    return this.#text.charAt(this.#at);
  }

  #take(text: string): boolean {
    const there = this.#text.startsWith(text, this.#at);
    if (there) this.#at += text.length;
    return there;
  }

  #wrong(why: string): Error {
    return badRequest(`the JSON path ${this.#path} is wrong before "${this.#text.slice(this.#at)}": ${why}`);
  }
}

function member(name: string): Step {
  return (value) => {
    const found = isJsonObject(value) ? ownMember(value, name) : undefined;
    return found === undefined ? [] : [found];
  };
}

function children(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? Object.values(value) : [];
}

/** The value itself and all below it. */
function descendants(value: unknown): unknown[] {
  return [value, ...children(value).flatMap(descendants)];
}

/** One part of what stands in brackets: `'name'`, `0`, `-1`, `1:3`, `::2`. */
function selector(part: string): Step | undefined {
  const name = unquote(part);
  if (name !== undefined) return member(name);
  if (/^-?\d+$/.test(part)) return (value) => (Array.isArray(value) ? itemAt(value, Number(part)) : []);
  const slice = /^(-?\d*):(-?\d*)(?::(\d*))?$/.exec(part);
  if (!slice) return undefined;
  const [, from = '', to = '', every = ''] = slice;
  const step = Math.max(1, Number(every));
  return (value) => {
    if (!Array.isArray(value)) return [];
    const cut = value.slice(from === '' ? 0 : Number(from), to === '' ? undefined : Number(to));
    return cut.filter((_, i) => i % step === 0);
  };
}

function itemAt(array: readonly unknown[], index: number): unknown[] {
  const item = array.at(index);
  return item === undefined ? [] : [item];
}

function unquote(text: string): string | undefined {
  const found = /^'((?:[^'\\]|\\.)*)'$|^"((?:[^"\\]|\\.)*)"$/s.exec(text);
  return (found?.[1] ?? found?.[2])?.replaceAll(/\\(.)/gs, '$1');
}

function splitOutsideQuotes(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let quote = '';
  for (let at = 0; at <= text.length; at += 1) {
    const char = text[at];
    if (quote !== '') {
      if (char === '\\') at += 1;
      else if (char === quote) quote = '';
    } else if (char === "'" || char === '"') quote = char;
    if (at < text.length && (quote !== '' || char !== ',')) continue;
    if (at > start) parts.push(text.slice(start, at));
    start = at + 1;
  }
  return parts.length > 0 ? parts : [''];
}

function compileFilter(expression: string): Step {
  const found = /^((?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^=!<>'"])+?)(==|!=|<=|>=|<|>)(.+)$/s.exec(expression);
  if (!found) {
    const there = operand(expression);
    return (value) => (Array.isArray(value) ? value.filter((item) => there(item).length > 0) : []);
  }
  const [, left = '', operator = '', right = ''] = found;
  const leftOf = operand(left.trim());
  const rightOf = operand(right.trim());
  return (value) =>
    Array.isArray(value) ? value.filter((item) => compare(operator, leftOf(item), rightOf(item))) : [];
}

/** `@.path` of the item, or a literal. */
function operand(text: string): JsonPath {
  if (text.startsWith('@')) return compileJsonPath(text.slice(1));
  const literal = unquote(text) ?? parseLiteral(text);
  return () => [literal];
}

function parseLiteral(text: string): unknown {
  if (/^(true|false|-?\d+(\.\d+)?)$/.test(text)) return parseJson(text);
  throw badRequest(
    `the JSON path filter has ${JSON.stringify(text)} where a path, a text in quotes or a number can stand`,
  );
}

/** Values of different types are unequal and in no order. */
function compare(operator: string, lefts: unknown[], rights: unknown[]): boolean {
  const [left] = lefts;
  const [right] = rights;
  if (lefts.length !== 1 || rights.length !== 1 || typeof left !== typeof right) return false;
  if (operator === '==') return left === right;
  if (operator === '!=') return left !== right;
  if (
    (typeof left !== 'number' || typeof right !== 'number') &&
    (typeof left !== 'string' || typeof right !== 'string')
  ) {
    return false;
  }
  switch (operator) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    default:
      return left >= right;
  }
}

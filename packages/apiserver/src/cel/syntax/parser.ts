import type { CelFault } from './cel-fault.ts';
import { type Expression, type MapEntry, qualifiedName } from './expression.ts';
import { expandMacro } from './expand-macro.ts';
import { parseLiteral } from './parse-literal.ts';
import { type Token, type TokenKind, tokenize } from './tokens.ts';

const MAX_CODE_POINTS = 100_000;
/** How deep expressions may nest: everything that walks them calls itself. */
const MAX_DEPTH = 250;
const RELATIONS = new Map([
  ['==', '_==_'],
  ['!=', '_!=_'],
  ['<', '_<_'],
  ['<=', '_<=_'],
  ['>', '_>_'],
  ['>=', '_>=_'],
  ['in', '@in'],
]);
const SUMS = new Map([
  ['+', '_+_'],
  ['-', '_-_'],
]);
const PRODUCTS = new Map([
  ['*', '_*_'],
  ['/', '_/_'],
  ['%', '_%_'],
]);
const RESERVED = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);
const KEYWORDS = new Set(['in', 'true', 'false', 'null']);
const LITERALS: ReadonlySet<TokenKind> = new Set(['int', 'uint', 'double', 'string', 'bytes']);
const ANY_EXPRESSION =
  "'.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

export type Parsed = { root: Expression; faults?: undefined } | { root?: undefined; faults: CelFault[] };

/** Ends parsing after a fault that nothing can be made of. */
class ParsingStopped extends Error {}

/** Parses an expression in linear time and expands its macros. The faults are in the words of cel-go's parser. */
export function parseExpression(text: string): Parsed {
  const size = text.length > MAX_CODE_POINTS ? Array.from(text).length : text.length;
  if (size > MAX_CODE_POINTS) {
    const message = `expression code point size exceeds limit: size: ${size}, limit ${MAX_CODE_POINTS}`;
    return { faults: [{ at: 0, message }] };
  }
  const parser = new Parser(text);
  const root = parser.parse();
  return parser.faults.length > 0 || !root ? { faults: parser.faults } : { root };
}

class Parser {
  readonly faults: CelFault[] = [];
  readonly #tokens: Token[];
  readonly #depths = new WeakMap<Expression, number>();
  #at = 0;
  #depth = 0;
  /** The last token that was left out. */
  #skipped = -2;

  constructor(text: string) {
    this.#tokens = tokenize(text, this.faults);
  }

  parse(): Expression | undefined {
    try {
      const root = this.#expression();
      const { kind, text, at } = this.#token;
      if (kind !== 'end') {
        const verb = this.#peek().kind === 'end' ? 'extraneous' : 'mismatched';
        this.#fault(at, `Syntax error: ${verb} input '${text}' expecting <EOF>`);
      }
      return root;
    } catch (error) {
      if (error instanceof ParsingStopped) return undefined;
      throw error;
    }
  }

  get #token(): Token {
    return this.#tokens[this.#at]!;
  }

  #peek(): Token {
    return this.#tokens[Math.min(this.#at + 1, this.#tokens.length - 1)]!;
  }

  #fault(at: number, message: string): void {
    this.faults.push({ at, message });
  }

  #stop(at: number, message: string): never {
    this.#fault(at, message);
    throw new ParsingStopped();
  }

  #is(text: string): boolean {
    const { kind, text: found } = this.#token;
    return found === text && (kind === 'symbol' || (kind === 'ident' && KEYWORDS.has(text)));
  }

  #accept(text: string): Token | undefined {
    return this.#is(text) ? this.#tokens[this.#at++] : undefined;
  }

  #expect(text: string, expected = `'${text}'`): Token {
    const { at, text: found, kind } = this.#token;
    if (this.#is(text)) return this.#tokens[this.#at++]!;
    if (kind === 'end' && expected === `'${text}'`) this.#stop(at, `Syntax error: missing ${expected} at '${found}'`);
    return this.#stop(at, `Syntax error: mismatched input '${found}' expecting ${expected}`);
  }

  /** Remembers how deep an expression is, and refuses one that is too deep. */
  #made<Made extends Expression>(expression: Made, parts: readonly Expression[]): Made {
    const depth = 1 + Math.max(0, ...parts.map((part) => this.#depths.get(part) ?? 1));
    if (depth > MAX_DEPTH) this.#stop(expression.at, `expression recursion limit exceeded: ${MAX_DEPTH}`);
    this.#depths.set(expression, depth);
    return expression;
  }

  #call(name: string, at: number, args: Expression[], target?: Expression): Expression {
    return this.#made({ kind: 'call', at, name, target, args }, target ? [target, ...args] : args);
  }

  #expression(): Expression {
    if (++this.#depth > MAX_DEPTH) this.#stop(this.#token.at, `expression recursion limit exceeded: ${MAX_DEPTH}`);
    const condition = this.#logical('||', '_||_', () => this.#logical('&&', '_&&_', () => this.#relation()));
    const question = this.#accept('?');
    let result = condition;
    if (question) {
      const yes = this.#logical('||', '_||_', () => this.#logical('&&', '_&&_', () => this.#relation()));
      this.#expect(':');
      result = this.#call('_?_:_', question.at, [condition, yes, this.#expression()]);
    }
    this.#depth--;
    return result;
  }

  /** Long chains become balanced trees. */
  #logical(symbol: string, name: string, term: () => Expression): Expression {
    const terms = [term()];
    const places: number[] = [];
    for (let token = this.#accept(symbol); token; token = this.#accept(symbol)) {
      places.push(token.at);
      terms.push(term());
    }
    const balance = (low: number, high: number): Expression => {
      const middle = Math.floor((low + high + 1) / 2);
      const left = middle === low ? terms[middle]! : balance(low, middle - 1);
      const right = middle === high ? terms[middle + 1]! : balance(middle + 1, high);
      return this.#call(name, places[middle]!, [left, right]);
    };
    return places.length === 0 ? terms[0]! : balance(0, places.length - 1);
  }

  #binary(operators: ReadonlyMap<string, string>, operand: () => Expression): Expression {
    let left = operand();
    for (;;) {
      const { kind, text, at } = this.#token;
      const name = kind === 'symbol' || text === 'in' ? operators.get(text) : undefined;
      if (name === undefined) return left;
      this.#at++;
      left = this.#call(name, at, [left, operand()]);
    }
  }

  #relation(): Expression {
    return this.#binary(RELATIONS, () => this.#binary(SUMS, () => this.#binary(PRODUCTS, () => this.#unary())));
  }

  /** Signs of which there are two cancel each other. */
  #unary(): Expression {
    const { at } = this.#token;
    for (const [symbol, name] of [
      ['!', '!_'],
      ['-', '-_'],
    ] as const) {
      if (!this.#is(symbol) || (symbol === '-' && isNumber(this.#peek()))) continue;
      let count = 0;
      while (this.#is(symbol) && !(symbol === '-' && count > 0 && isNumber(this.#peek()))) {
        count++;
        this.#at++;
      }
      const operand = this.#member();
      return count % 2 === 0 ? operand : this.#call(name, at, [operand]);
    }
    return this.#member();
  }

  #member(): Expression {
    let operand = this.#primary();
    for (;;) {
      const { at } = this.#token;
      if (this.#accept('.')) operand = this.#selection(operand, at);
      else if (this.#accept('[')) {
        const name = this.#accept('?') ? '_[?_]' : '_[_]';
        const index = this.#expression();
        this.#expect(']');
        operand = this.#call(name, at, [operand, index]);
      } else if (this.#is('{') && qualifiedName(operand) !== undefined) {
        operand = this.#struct(qualifiedName(operand)!);
      } else return operand;
    }
  }

  #selection(operand: Expression, at: number): Expression {
    const optional = this.#accept('?');
    const { kind, text, at: nameAt } = this.#token;
    const isName = kind === 'quoted-ident' || (kind === 'ident' && !KEYWORDS.has(text));
    if (!isName) this.#stop(nameAt, `Syntax error: no viable alternative at input '.${text}'`);
    this.#at++;
    const field = kind === 'quoted-ident' ? text.slice(1, -1) : text;
    if (optional) {
      return this.#call('_?._', at, [operand, this.#made({ kind: 'literal', at: nameAt, value: field }, [])]);
    }
    const open = kind === 'ident' ? this.#accept('(') : undefined;
    if (!open) return this.#made({ kind: 'select', at, operand, field, testOnly: false }, [operand]);
    return this.#callOrMacro(field, open.at, operand);
  }

  #callOrMacro(name: string, at: number, target?: Expression): Expression {
    const args = this.#is(')') ? [] : this.#list(')', () => this.#expression());
    this.#expect(')', args.length > 0 ? "')'" : `{'[', '{', '(', ')', ${ANY_EXPRESSION}`);
    const expanded = expandMacro({ name, target, args, at });
    if (!expanded) return this.#call(name, at, args, target);
    if ('fault' in expanded) {
      this.faults.push(expanded.fault);
      return this.#call(name, at, args, target);
    }
    return this.#made(expanded.expression, target ? [target, ...args] : args);
  }

  /** Elements with commas between them, perhaps with one behind the last if `trailing` is set. */
  #list<Element>(end: string, element: () => Element, trailing = false): Element[] {
    const elements = [element()];
    while (this.#accept(',')) {
      if (trailing && this.#is(end)) break;
      elements.push(element());
    }
    return elements;
  }

  #primary(): Expression {
    const token = this.#token;
    if (this.#accept('(')) {
      const inner = this.#expression();
      this.#expect(')');
      return inner;
    }
    if (this.#accept('[')) return this.#listLiteral(token.at);
    if (this.#accept('{')) return this.#mapLiteral(token.at);
    if (LITERALS.has(token.kind)) return this.#literal(token, token.at, false);
    if (this.#is('-') && isNumber(this.#peek())) {
      this.#at++;
      return this.#literal(this.#token, token.at, true);
    }
    if (token.kind === 'ident' && token.text in CONSTANTS) {
      this.#at++;
      return this.#made({ kind: 'literal', at: token.at, value: CONSTANTS[token.text]! }, []);
    }
    if (this.#is('.') && this.#peek().kind === 'ident') this.#at++;
    return this.#name(token.at);
  }

  #name(at: number): Expression {
    const { kind, text, at: place } = this.#token;
    if (kind !== 'ident' || KEYWORDS.has(text)) {
      const isSkipped = kind !== 'end' && startsExpression(this.#peek()) && this.#skipped !== this.#at - 1;
      const verb = isSkipped ? 'extraneous' : 'mismatched';
      const before =
        this.#tokens[this.#at - 1]?.text === '(' && this.#tokens[this.#at - 2]?.kind === 'ident' ? "')', " : '';
      this.#fault(place, `Syntax error: ${verb} input '${text}' expecting {'[', '{', '(', ${before}${ANY_EXPRESSION}`);
      if (!isSkipped) throw new ParsingStopped();
      this.#skipped = this.#at;
      this.#at++;
      return this.#primary();
    }
    this.#at++;
    const open = this.#accept('(');
    if (open) return this.#callOrMacro(text, open.at);
    if (RESERVED.has(text)) this.#fault(at, `reserved identifier: ${text}`);
    return this.#made({ kind: 'ident', at, name: text }, []);
  }

  #literal(token: Token, at: number, negative: boolean): Expression {
    this.#at++;
    const parsed = parseLiteral(token, negative);
    if ('fault' in parsed) this.#fault(at, parsed.fault);
    return this.#made({ kind: 'literal', at, value: 'value' in parsed ? parsed.value : null }, []);
  }

  #listLiteral(at: number): Expression {
    const optional = new Set<number>();
    let index = 0;
    const element = (): Expression => {
      if (this.#accept('?')) optional.add(index);
      index++;
      return this.#expression();
    };
    const elements = this.#is(']') ? [] : this.#list(']', element, true);
    this.#expect(']');
    return this.#made({ kind: 'list', at, elements, optional }, elements);
  }

  #mapLiteral(at: number): Expression {
    const entry = (): MapEntry => {
      const optional = this.#accept('?') !== undefined;
      const key = this.#expression();
      const colon = this.#expect(':');
      return { key, value: this.#expression(), optional, at: colon.at };
    };
    const entries = this.#is('}') ? [] : this.#list('}', entry, true);
    this.#expect('}');
    const parts = entries.flatMap(({ key, value }) => [key, value]);
    return this.#made({ kind: 'map', at, entries }, parts);
  }

  #struct(name: string): Expression {
    const { at } = this.#expect('{');
    const field = (): Expression => {
      this.#accept('?');
      const { kind, text, at: place } = this.#token;
      if (kind !== 'ident') this.#stop(place, `Syntax error: mismatched input '${text}' expecting IDENTIFIER`);
      this.#at++;
      this.#expect(':');
      return this.#expression();
    };
    const values = this.#is('}') ? [] : this.#list('}', field, true);
    this.#expect('}');
    return this.#made({ kind: 'struct', at, name, values }, values);
  }
}

const CONSTANTS: Readonly<Record<string, null | boolean>> = { true: true, false: false, null: null };

function isNumber({ kind }: Token): boolean {
  return kind === 'int' || kind === 'uint' || kind === 'double';
}

function startsExpression({ kind, text }: Token): boolean {
  if (kind === 'symbol') return '[{(.-!'.includes(text);
  return kind !== 'end' && text !== 'in';
}

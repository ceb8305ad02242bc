import type { LabelOperator } from './labels.ts';
import { validateLabelKey } from './names.ts';
import { StatusError, badRequest } from './status.ts';

/**
 * The grammar of label selectors, read as `k8s.io/apimachinery/pkg/labels` reads it, so that what it refuses is refused here
 * in the same words:
 *
 *     selector    = [ requirement { "," requirement } ]
 *     requirement = [ "!" ] key | key ( "in" | "notin" ) "(" [ values ] ")" | key ( "=" | "==" | "!=" | ">" | "<" ) [ value ]
 *
 * `in` and `notin` are words of the grammar after a key, and ordinary text elsewhere.
 *
 * @throws StatusError 400; also what `create` throws, said to be of the requirement.
 */
export function parseLabelSelectorText<R>(
  text: string,
  create: (key: string, operator: LabelOperator, values: readonly string[]) => R,
): R[] {
  const tokens = new Tokens(text);
  const requirements: R[] = [];
  while (tokens.peek() !== END) {
    if (tokens.peek() !== '!' && !isWord(tokens.peek())) {
      throw badRequest(`found '${tokens.peek()}', expected: !, identifier, or 'end of string'`);
    }
    requirements.push(parseRequirement(tokens, create));
    const separator = tokens.take();
    if (separator === END) break;
    if (separator !== ',') throw badRequest(`found '${separator}', expected: ',' or 'end of string'`);
    const next = tokens.peek();
    if (next !== '!' && !isWord(next)) throw badRequest(`found '${next}', expected: identifier after ','`);
  }
  return requirements;
}

const END = '';
const SYMBOLS = ['==', '!=', '=', '!', '(', ')', ',', '>', '<'];
const OPERATORS: ReadonlyMap<string, LabelOperator> = new Map([
  ['in', 'in'],
  ['notin', 'notin'],
  ['=', '='],
  ['==', '='],
  ['!=', '!='],
  ['>', '>'],
  ['<', '<'],
]);

/** The pieces of a selector; the empty one, again and again, at its end. */
class Tokens {
  readonly #tokens: readonly string[];
  #next = 0;

  constructor(text: string) {
    this.#tokens = text.match(/==|!=|[=!(),><]|[^\s=!(),><]+/g) ?? [];
  }

  peek(): string {
    return this.#tokens[this.#next] ?? END;
  }

  take(): string {
    const token = this.peek();
    this.#next += 1;
    return token;
  }
}

function isWord(token: string): boolean {
  return token !== END && !SYMBOLS.includes(token);
}

function parseRequirement<R>(
  tokens: Tokens,
  create: (key: string, operator: LabelOperator, values: readonly string[]) => R,
): R {
  try {
    const negated = tokens.peek() === '!';
    if (negated) tokens.take();
    const key = tokens.take();
    if (!isWord(key)) throw badRequest(`found '${key}', expected: identifier`);
    const faults = validateLabelKey(key);
    if (faults.length > 0) throw badRequest(`<nil>: Invalid value: ${JSON.stringify(key)}: ${faults.join('; ')}`);
    if (negated) return create(key, 'notexists', []);
    if (tokens.peek() === END || tokens.peek() === ',') return create(key, 'exists', []);
    const word = tokens.take();
    const operator = OPERATORS.get(word);
    if (!operator) throw badRequest(`found '${word}', expected: in, notin, =, ==, !=, gt, lt`);
    const many = operator === 'in' || operator === 'notin';
    return create(key, operator, many ? parseValues(tokens) : [parseValue(tokens)]);
  } catch (error) {
    if (error instanceof StatusError) throw badRequest(`unable to parse requirement: ${error.message}`);
    throw error;
  }
}

function parseValue(tokens: Tokens): string {
  if (tokens.peek() === END || tokens.peek() === ',') return '';
  const value = tokens.take();
  if (!isWord(value)) throw badRequest(`found '${value}', expected: identifier`);
  return value;
}

/** `(a, b)`. A missing value, as in `()`, `(,a)` and `(a,)`, is the empty string. */
function parseValues(tokens: Tokens): string[] {
  const open = tokens.take();
  if (open !== '(') throw badRequest(`found '${open}' expected: '('`);
  const values: string[] = [];
  for (;;) {
    values.push(isWord(tokens.peek()) ? tokens.take() : '');
    const separator = tokens.peek();
    if (separator !== ',' && separator !== ')') {
      throw badRequest(
        `found '${separator}', expected: ${isWord(values.at(-1) ?? '') ? "',' or ')'" : "',', ')' or identifier"}`,
      );
    }
    tokens.take();
    if (separator === ')') return values;
  }
}

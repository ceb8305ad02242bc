/** The variables that an expression reads and sets. */
export interface ArithmeticVariables {
  get(name: string): string | undefined;
  set(name: string, value: string): void;
}

const TOKEN =
  /\s*(0[xX][0-9a-fA-F]+|\d+|[A-Za-z_]\w*|\*\*|\+\+|--|<<=?|>>=?|[-+*/%<>=!&|^]=|&&|\|\||[-+*/%<>=!~&|^()?:,])/y;

/** From what binds least to what binds most. */
const LEVELS: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['|'],
  ['^'],
  ['&'],
  ['==', '!='],
  ['<', '<=', '>', '>='],
  ['<<', '>>'],
  ['+', '-'],
  ['*', '/', '%'],
];

const OPERATIONS: Readonly<Record<string, (a: number, b: number) => number>> = {
  '||': (a, b) => Number(a !== 0 || b !== 0),
  '&&': (a, b) => Number(a !== 0 && b !== 0),
  '|': (a, b) => a | b,
  '^': (a, b) => a ^ b,
  '&': (a, b) => a & b,
  '==': (a, b) => Number(a === b),
  '!=': (a, b) => Number(a !== b),
  '<': (a, b) => Number(a < b),
  '<=': (a, b) => Number(a <= b),
  '>': (a, b) => Number(a > b),
  '>=': (a, b) => Number(a >= b),
  '<<': (a, b) => a * 2 ** b,
  '>>': (a, b) => Math.floor(a / 2 ** b),
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => Math.trunc(divided(a, b)),
  '%': (a, b) => (divided(a, b), a % b),
};

function divided(a: number, b: number): number {
  if (b === 0) throw new Error('divide by zero');
  return a / b;
}

/** The value of what stands between `$((` and `))`. Throws an `Error` that says what is wrong with it. */
export function evaluate(text: string, variables: ArithmeticVariables): number {
  return new Evaluation(text, variables).whole();
}

class Evaluation {
  readonly #tokens: string[] = [];
  readonly #variables: ArithmeticVariables;
  #at = 0;
  /** False within what a `?:`, `&&` or `||` leaves out: nothing is set there. */
  #live = true;

  constructor(text: string, variables: ArithmeticVariables) {
    this.#variables = variables;
    const trimmed = text.trim();
    TOKEN.lastIndex = 0;
    for (let at = 0; at < trimmed.length; at = TOKEN.lastIndex) {
      TOKEN.lastIndex = at;
      const token = TOKEN.exec(trimmed)?.[1];
      if (token === undefined) throw new Error('arithmetic syntax error');
      this.#tokens.push(token);
    }
  }

  whole(): number {
    if (this.#tokens.length === 0) return 0;
    const value = this.#choice();
    if (this.#at < this.#tokens.length) throw new Error('arithmetic syntax error');
    return value;
  }

  #accept(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at += 1;
    return true;
  }

  #choice(): number {
    const condition = this.#binary(0);
    if (!this.#accept('?')) return condition;
    const yes = this.#within(condition !== 0, () => this.#choice());
    if (!this.#accept(':')) throw new Error('arithmetic syntax error');
    const no = this.#within(condition === 0, () => this.#choice());
    return condition === 0 ? no : yes;
  }

  #within(live: boolean, evaluateIt: () => number): number {
    const before = this.#live;
    this.#live = before && live;
    try {
      return evaluateIt();
    } finally {
      this.#live = before;
    }
  }

  #binary(level: number): number {
    const operators = LEVELS[level];
    if (!operators) return this.#unary();
    let value = this.#binary(level + 1);
    for (;;) {
      const operator = this.#tokens[this.#at];
      if (operator === undefined || !operators.includes(operator)) return value;
      this.#at += 1;
      const live = operator === '&&' ? value !== 0 : operator === '||' ? value === 0 : true;
      const right = this.#within(live, () => this.#binary(level + 1));
      value = this.#live || !'/%'.includes(operator) ? (OPERATIONS[operator]?.(value, right) ?? 0) : 0;
    }
  }

  #unary(): number {
    if (this.#accept('-')) return -this.#unary();
    if (this.#accept('+')) return this.#unary();
    if (this.#accept('!')) return Number(this.#unary() === 0);
    if (this.#accept('~')) return ~this.#unary();
    if (this.#accept('(')) {
      const value = this.#choice();
      if (!this.#accept(')')) throw new Error('arithmetic syntax error');
      return value;
    }
    if (this.#accept('++')) return this.#change(this.#name(), 1);
    if (this.#accept('--')) return this.#change(this.#name(), -1);
    const token = this.#tokens[this.#at];
    if (token === undefined) throw new Error('arithmetic syntax error');
    this.#at += 1;
    if (/^0[0-7]+$/.test(token)) return Number.parseInt(token, 8);
    if (/^\d/.test(token)) return Number(token);
    if (!/^[A-Za-z_]/.test(token)) throw new Error('arithmetic syntax error');
    return this.#variable(token);
  }

  #name(): string {
    const name = this.#tokens[this.#at];
    if (name === undefined || !/^[A-Za-z_]/.test(name)) throw new Error('arithmetic syntax error');
    this.#at += 1;
    return name;
  }

  #variable(name: string): number {
    if (this.#accept('++')) return this.#change(name, 1) - 1;
    if (this.#accept('--')) return this.#change(name, -1) + 1;
    if (this.#accept('=')) return this.#set(name, this.#choice());
    const operator = /^([-+*/%&|^]|<<|>>)=$/.exec(this.#tokens[this.#at] ?? '')?.[1];
    if (operator === undefined) return this.#get(name);
    this.#at += 1;
    const value = this.#choice();
    return this.#set(name, OPERATIONS[operator]?.(this.#get(name), value) ?? 0);
  }

  #get(name: string): number {
    const text = this.#variables.get(name)?.trim() ?? '';
    if (text === '') return 0;
    const value = Number(text);
    if (!Number.isInteger(value)) throw new Error('arithmetic syntax error');
    return value;
  }

  #set(name: string, value: number): number {
    if (this.#live) this.#variables.set(name, String(value));
    return value;
  }

  #change(name: string, by: number): number {
    return this.#set(name, this.#get(name) + by);
  }
}

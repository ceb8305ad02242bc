/**
 * Why a text is no JSON, in the words of Go's `encoding/json`, which clients see. For texts that `JSON.parse` refused; of one
 * that is JSON it says that it ends too early.
 */
export function jsonSyntaxFault(text: string): string {
  const scanner = new Scanner(text);
  return scanner.value() ?? scanner.end() ?? 'unexpected end of JSON input';
}

const SPACE = /[ \t\r\n]*/y;
const DIGITS = /[0-9]*/y;
const LITERALS: Readonly<Record<string, string>> = { t: 'true', f: 'false', n: 'null' };
const ENDED = 'unexpected end of JSON input';

class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Scans one value; answers with its fault. */
  value(where = 'looking for beginning of value'): string | undefined {
    const char = this.#peek();
    if (char === '{') return this.#object();
    if (char === '[') return this.#array();
    if (char === '"') return this.#string();
    if (char === '-' || (char >= '0' && char <= '9')) return this.#number();
    const literal = LITERALS[char];
    return literal === undefined ? this.#invalid(where) : this.#literal(literal);
  }

  end(): string | undefined {
    return this.#peek() === '' ? undefined : this.#invalid('after top-level value');
  }

  #object(): string | undefined {
    this.#at++;
    if (this.#peek() === '}') return this.#step();
    for (;;) {
      if (this.#peek() !== '"') return this.#invalid('looking for beginning of object key string');
      const key = this.#string();
      if (key !== undefined) return key;
      if (this.#peek() !== ':') return this.#invalid('after object key');
      this.#at++;
      const value = this.value();
      if (value !== undefined) return value;
      const next = this.#peek();
      if (next === '}') return this.#step();
      if (next !== ',') return this.#invalid('after object key:value pair');
      this.#at++;
    }
  }

  #array(): string | undefined {
    this.#at++;
    if (this.#peek() === ']') return this.#step();
    for (;;) {
      const value = this.value();
      if (value !== undefined) return value;
      const next = this.#peek();
      if (next === ']') return this.#step();
      if (next !== ',') return this.#invalid('after array element');
      this.#at++;
    }
  }

  #string(): string | undefined {
    this.#at++;
    for (;;) {
      const char = this.#char();
      if (char === '"') return this.#step();
      if (char < ' ') return this.#invalid('in string literal');
      this.#at++;
      if (char !== '\\') continue;
      const escape = this.#char();
      if (!/^["\\/bfnrtu]$/.test(escape)) return this.#invalid('in string escape code');
      this.#at++;
      for (let digit = 0; escape === 'u' && digit < 4; digit++, this.#at++) {
        if (!/^[0-9a-fA-F]$/.test(this.#char())) return this.#invalid('in \\u hexadecimal character escape');
      }
    }
  }

  #number(): string | undefined {
    if (this.#char() === '-') this.#at++;
    if (!/^[0-9]$/.test(this.#char())) return this.#invalid('in numeric literal');
    if (this.#char() === '0') this.#at++;
    else this.#skip(DIGITS);
    if (this.#char() === '.') {
      this.#at++;
      if (!/^[0-9]$/.test(this.#char())) return this.#invalid('after decimal point in numeric literal');
      this.#skip(DIGITS);
    }
    if (/^[eE]$/.test(this.#char())) {
      this.#at++;
      if (/^[+-]$/.test(this.#char())) this.#at++;
      if (!/^[0-9]$/.test(this.#char())) return this.#invalid('in exponent of numeric literal');
      this.#skip(DIGITS);
    }
    return undefined;
  }

  #literal(literal: string): string | undefined {
    for (const expected of literal) {
      if (this.#char() !== expected) return this.#invalid(`in literal ${literal} (expecting '${expected}')`);
      this.#at++;
    }
    return undefined;
  }

  #step(): undefined {
    this.#at++;
  }

  #skip(pattern: RegExp): void {
    pattern.lastIndex = this.#at;
    this.#at += pattern.exec(this.#text)?.[0].length ?? 0;
  }

  /** The next character that is no white space; empty at the end. */
  #peek(): string {
    this.#skip(SPACE);
    return this.#char();
  }

  #char(): string {
    return this.#text.charAt(this.#at);
  }

  #invalid(where: string): string {
    const char = this.#char();
    if (char === '') return ENDED;
    return `invalid character ${quoteByte(new TextEncoder().encode(char)[0]!)} ${where}`;
  }
}

/** Go's scanner looks at bytes: of a longer character it shows the first. */
function quoteByte(byte: number): string {
  const char = String.fromCharCode(byte);
  if (char === "'") return "'\\''";
  if (char === '"') return `'"'`;
  return `'${JSON.stringify(char).slice(1, -1)}'`;
}

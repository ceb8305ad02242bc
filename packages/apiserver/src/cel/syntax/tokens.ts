import type { CelFault } from './cel-fault.ts';

export type TokenKind = 'ident' | 'quoted-ident' | 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'symbol' | 'end';

export interface Token {
  kind: TokenKind;
  /** As it is written; of the end `<EOF>`. */
  text: string;
  at: number;
}

/** Longer ones first. */
const SYMBOLS = ['==', '!=', '<=', '>=', '&&', '||', ...Array.from('<>[]{}().,-!?:+*/%')];
/** Characters that begin a symbol but are none. */
const HALF_SYMBOLS = '=&|';
const ESCAPES = 'abfnrtv"\'\\?`';

/** The tokens of an expression, the last of which is the end. Text that is no token is reported and left out. */
export function tokenize(text: string, faults: CelFault[]): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const next = skipBlank(text, at);
    if (next > at) {
      at = next;
      continue;
    }
    const token = tokenAt(text, at);
    if ('failed' in token) {
      const shown = token.failed.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t');
      faults.push({ at, message: `Syntax error: token recognition error at: '${shown}'` });
      at += token.failed.length;
      continue;
    }
    tokens.push(token);
    at += token.text.length;
  }
  tokens.push({ kind: 'end', text: '<EOF>', at: text.length });
  return tokens;
}

/** The offset after a space or a comment at `at`. */
function skipBlank(text: string, at: number): number {
  if (' \t\n\r\f'.includes(text[at]!)) return at + 1;
  if (!text.startsWith('//', at)) return at;
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

function tokenAt(text: string, at: number): Token | { failed: string } {
  const first = text[at]!;
  const quoteAt = quoteStart(text, at);
  if (quoteAt !== undefined) {
    const end = stringEnd(text, quoteAt, /r/i.test(text.slice(at, quoteAt)));
    if (end < 0) return { failed: text.slice(at, -end) };
    return { kind: /b/i.test(text.slice(at, quoteAt)) ? 'bytes' : 'string', text: text.slice(at, end), at };
  }
  if (isDigit(first) || (first === '.' && isDigit(text[at + 1]))) return numberAt(text, at);
  if (isNameStart(first)) {
    const end = endOf(text, at, (char) => isNameStart(char) || isDigit(char));
    return { kind: 'ident', text: text.slice(at, end), at };
  }
  if (first === '`') {
    const end = endOf(text, at + 1, (char) => /[A-Za-z0-9_.\-/ ]/.test(char));
    if (text[end] === '`' && end > at + 1) return { kind: 'quoted-ident', text: text.slice(at, end + 1), at };
  }
  const symbol = SYMBOLS.find((each) => text.startsWith(each, at));
  if (symbol !== undefined) return { kind: 'symbol', text: symbol, at };
  const length = HALF_SYMBOLS.includes(first) ? 2 : String.fromCodePoint(text.codePointAt(at)!).length;
  return { failed: text.slice(at, at + length) };
}

/** Where the quote of a string at `at` is, after its prefix. */
function quoteStart(text: string, at: number): number | undefined {
  let quote = at;
  if (/[bB]/.test(text[quote]!)) quote++;
  if (/[rR]/.test(text[quote] ?? '')) quote++;
  return text[quote] === '"' || text[quote] === "'" ? quote : undefined;
}

/** The offset after a string; if it does not end, minus the offset after what was read. */
function stringEnd(text: string, quoteAt: number, raw: boolean): number {
  const quote = text[quoteAt]!;
  const long = text.startsWith(quote.repeat(3), quoteAt);
  const end = long ? quote.repeat(3) : quote;
  let at = quoteAt + end.length;
  while (at < text.length) {
    if (text.startsWith(end, at)) return at + end.length;
    const char = text[at]!;
    if (!long && (char === '\n' || char === '\r')) return -(at + 1);
    if (char === '\\' && !raw) {
      const length = escapeLength(text, at);
      if (length === 0) return -Math.min(at + 2, text.length);
      at += length;
    } else at++;
  }
  return -text.length;
}

/** How long the escape sequence at `at` is, 0 if it is none. */
function escapeLength(text: string, at: number): number {
  const kind = text[at + 1] ?? '';
  const digits = { x: 2, X: 2, u: 4, U: 8 }[kind];
  if (digits !== undefined) {
    const code = text.slice(at + 2, at + 2 + digits);
    return code.length === digits && /^[0-9a-fA-F]+$/.test(code) ? digits + 2 : 0;
  }
  if (/^[0-3][0-7][0-7]$/.test(text.slice(at + 1, at + 4))) return 4;
  return kind !== '' && ESCAPES.includes(kind) ? 2 : 0;
}

function numberAt(text: string, at: number): Token {
  if (/^0x[0-9a-fA-F]/.test(text.slice(at, at + 3))) {
    return integer(
      text,
      at,
      endOf(text, at + 2, (char) => /[0-9a-fA-F]/.test(char)),
    );
  }
  let end = endOf(text, at, isDigit);
  let isDouble = false;
  if (text[end] === '.' && isDigit(text[end + 1])) {
    isDouble = true;
    end = endOf(text, end + 1, isDigit);
  }
  const exponent = /^[eE][+-]?[0-9]/.exec(text.slice(end, end + 3));
  if (exponent) {
    isDouble = true;
    end = endOf(text, end + exponent[0].length, isDigit);
  }
  return isDouble ? { kind: 'double', text: text.slice(at, end), at } : integer(text, at, end);
}

function integer(text: string, at: number, end: number): Token {
  if (text[end] === 'u' || text[end] === 'U') return { kind: 'uint', text: text.slice(at, end + 1), at };
  return { kind: 'int', text: text.slice(at, end), at };
}

function endOf(text: string, from: number, isPart: (char: string) => boolean): number {
  let at = from;
  while (at < text.length && isPart(text[at]!)) at++;
  return at;
}

function isDigit(char: string | undefined): boolean {
  return char !== undefined && char >= '0' && char <= '9';
}

function isNameStart(char: string): boolean {
  return (char >= 'a' && char <= 'z') || (char >= 'A' && char <= 'Z') || char === '_';
}

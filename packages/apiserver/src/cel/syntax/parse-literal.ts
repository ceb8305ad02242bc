import { CelUint, type Literal } from '../values/value.ts';
import type { Token } from './tokens.ts';

const MAX_INT = 2n ** 63n;
const MAX_UINT = 2n ** 64n;
const SIMPLE: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** The value of a literal, or what is wrong with it. */
export function parseLiteral(token: Token, negative: boolean): { value: Literal } | { fault: string } {
  switch (token.kind) {
    case 'int': {
      const value = negative ? -BigInt(token.text) : BigInt(token.text);
      return value < MAX_INT && value >= -MAX_INT ? { value } : { fault: 'invalid int literal' };
    }
    case 'uint': {
      const value = BigInt(token.text.slice(0, -1));
      return value < MAX_UINT && !negative ? { value: new CelUint(value) } : { fault: 'invalid uint literal' };
    }
    case 'double': {
      const value = Number(negative ? `-${token.text}` : token.text);
      return Number.isFinite(value) ? { value } : { fault: 'invalid double literal' };
    }
    case 'bytes':
      return unquote(token.text.slice(1), true);
    default:
      return unquote(token.text, false);
  }
}

function unquote(text: string, asBytes: boolean): { value: Literal } | { fault: string } {
  const raw = text[0] === 'r' || text[0] === 'R';
  const quoted = raw ? text.slice(1) : text;
  const long = quoted.length >= 6 && quoted.startsWith(quoted[0]!.repeat(3));
  const size = long ? 3 : 1;
  const inner = quoted.slice(size, -size).replaceAll('\r\n', '\n').replaceAll('\r', '\n');
  if (raw) return { value: asBytes ? Buffer.from(inner) : inner };
  const parts: (string | number)[] = [];
  for (let at = 0; at < inner.length; ) {
    const slash = inner.indexOf('\\', at);
    const end = slash < 0 ? inner.length : slash;
    if (end > at) parts.push(inner.slice(at, end));
    if (slash < 0) break;
    const { part, length } = unescape(inner, slash);
    if (typeof part === 'number' && !asBytes && !isScalar(part)) return { fault: 'invalid unicode code point' };
    parts.push(part);
    at = slash + length;
  }
  if (!asBytes)
    return { value: parts.map((part) => (typeof part === 'number' ? String.fromCodePoint(part) : part)).join('') };
  const bytes = parts.map((part) =>
    typeof part === 'number' ? String.fromCharCode(part) : Buffer.from(part).toString('latin1'),
  );
  return { value: Buffer.from(bytes.join(''), 'latin1') };
}

/** A code point that `\x`, `\u` or an octal number names, or a text. */
function unescape(text: string, at: number): { part: string | number; length: number } {
  const kind = text[at + 1]!;
  const digits = { x: 2, X: 2, u: 4, U: 8 }[kind];
  if (digits !== undefined)
    return { part: Number.parseInt(text.slice(at + 2, at + 2 + digits), 16), length: digits + 2 };
  if (kind >= '0' && kind <= '3') return { part: Number.parseInt(text.slice(at + 1, at + 4), 8), length: 4 };
  return { part: SIMPLE[kind] ?? kind, length: 2 };
}

function isScalar(code: number): boolean {
  return code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

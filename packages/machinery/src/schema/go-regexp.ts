import { findPatternFault } from './go-pattern-syntax.ts';

/**
 * A pattern of a schema, written for Go's RE2, as a JavaScript expression. RE2's syntax is nearly a subset; what differs is
 * translated: `\A`, `\z`, `(?P<name>`, POSIX classes and flags at the beginning.
 *
 * @returns undefined for a pattern that JavaScript cannot read.
 */
export function compileGoPattern(pattern: string): RegExp | undefined {
  const leading = /^\(\?([ims]+)\)/.exec(pattern);
  const flags = leading?.[1] ?? '';
  const body = pattern
    .slice(leading?.[0].length ?? 0)
    .replaceAll('(?P<', '(?<')
    .replace(/\\A/g, '^')
    .replace(/\\z/g, '$')
    .replace(/\[:(\^?)(\w+):\]/g, (whole, negated: string, name: string) =>
      negated === '' ? (POSIX_CLASSES.get(name) ?? whole) : whole,
    );
  const unicode = tryCompile(body, `u${flags}`);
  if (unicode && !IS_PLAIN.test(body)) return unicode;
  const plain = tryCompile(body, flags);
  return unicode && plain ? new PlainRegExp(plain.source, plain.flags) : plain;
}

/** A pattern that cannot tell apart what is not ASCII. */
const IS_PLAIN = /^(?!.*\\[pPuxk])\p{ASCII}*$/su;
const ASTRAL = /[\u{10000}-\u{10ffff}]/gu;

/**
 * RE2 takes linear time for any pattern; V8 can do the same where backtracking goes on and on, but only for expressions that
 * see text as UTF-16. So a character of two units is put as one: the pattern cannot tell which it is.
 */
class PlainRegExp extends RegExp {
  override test(text: string): boolean {
    return super.test(text.replace(ASTRAL, '\ue000'));
  }
}

/** Why Go would not compile the pattern, in its words; undefined where it would. */
export function goPatternError(pattern: string): string | undefined {
  const fault = findPatternFault(pattern);
  return fault && `error parsing regexp: ${fault.problem}: \`${fault.part}\``;
}

const POSIX_CLASSES: ReadonlyMap<string, string> = new Map([
  ['alnum', '0-9A-Za-z'],
  ['alpha', 'A-Za-z'],
  ['ascii', '\\x00-\\x7F'],
  ['blank', '\\t '],
  ['cntrl', '\\x00-\\x1F\\x7F'],
  ['digit', '0-9'],
  ['graph', '!-~'],
  ['lower', 'a-z'],
  ['print', ' -~'],
  ['punct', '!-\\/:-@\\[-`{-~'],
  ['space', '\\t\\n\\v\\f\\r '],
  ['upper', 'A-Z'],
  ['word', '0-9A-Za-z_'],
  ['xdigit', '0-9A-Fa-f'],
]);

function tryCompile(pattern: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(pattern, flags);
  } catch {
    return undefined;
  }
}

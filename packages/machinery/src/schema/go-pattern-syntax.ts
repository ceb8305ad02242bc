/** Why Go's `regexp` does not take a pattern: what is wrong, and the part of the pattern that is. */
export interface PatternFault {
  problem: string;
  part: string;
}

const MAX_REPEAT = 1000;
const POSIX_CLASS =
  /^\[:\^?(?:alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit):\]$/;

/** The first fault of a pattern by the syntax of RE2 (Go's `regexp/syntax`), in its words; undefined where it has none. */
export function findPatternFault(pattern: string): PatternFault | undefined {
  try {
    new PatternReader(pattern).read();
  } catch (error) {
    if (error instanceof PatternError) return { problem: error.message, part: error.part };
    throw error;
  }
  return undefined;
}

class PatternError extends Error {
  readonly part: string;

  constructor(problem: string, part: string) {
    super(problem);
    this.part = part;
  }
}

/** A group that is open, or the whole pattern: how often what it holds is repeated, and whether something can be repeated. */
interface Group {
  repeats: number;
  /** Repetitions within what was read last; 0 where there is nothing to repeat. */
  last: number;
}

class PatternReader {
  /** Characters, as Go has runes. */
  readonly #text: readonly string[];
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
    this.#text = Array.from(pattern);
  }

  read(): void {
    const groups: Group[] = [{ repeats: 1, last: 0 }];
    let lastRepeat: number | undefined;
    while (this.#at < this.#text.length) {
      const start = this.#at;
      const isRepeat = this.#step(groups, lastRepeat);
      lastRepeat = isRepeat ? start : undefined;
    }
    if (groups.length > 1) throw new PatternError('missing closing )', this.#pattern);
  }

  /** Reads one element; true where it was a repetition. */
  #step(groups: Group[], lastRepeat: number | undefined): boolean {
    const group = groups.at(-1) as Group;
    const char = this.#text[this.#at] ?? '';
    switch (char) {
      case '(':
        if (this.#openGroup()) groups.push({ repeats: 1, last: 0 });
        return false;
      case ')':
        if (groups.length < 2) throw new PatternError('unexpected )', this.#pattern);
        groups.pop();
        this.#at += 1;
        hold(groups.at(-1) as Group, group.repeats);
        return false;
      case '|':
        this.#at += 1;
        group.last = 0;
        return false;
      case '*':
      case '+':
      case '?':
        this.#repeat(group, 1, lastRepeat);
        return true;
      case '{':
        return this.#count(group, lastRepeat);
      case '[':
        this.#class();
        break;
      case '\\':
        this.#backslash();
        break;
      default:
        this.#at += 1;
    }
    hold(group, 1);
    return false;
  }

  #part(start: number, end = this.#at): string {
    return this.#text.slice(start, end).join('');
  }

  #repeat(group: Group, times: number, lastRepeat: number | undefined, length = 1): void {
    const start = this.#at;
    this.#at += length;
    if (this.#text[this.#at] === '?') this.#at += 1;
    if (lastRepeat !== undefined) throw new PatternError('invalid nested repetition operator', this.#part(lastRepeat));
    if (group.last === 0) throw new PatternError('missing argument to repetition operator', this.#part(start));
    if (times >= 2 && times * group.last > MAX_REPEAT) {
      throw new PatternError('invalid repeat count', this.#part(start));
    }
    hold(group, Math.max(times, 1) * group.last);
  }

  /** `{2}`, `{2,}`, `{2,5}`; anything else after a brace is text. */
  #count(group: Group, lastRepeat: number | undefined): boolean {
    const rest = this.#text.slice(this.#at).join('');
    const match = /^\{(0|[1-9]\d*)(?:(,)(0|[1-9]\d*)?)?\}/.exec(rest);
    if (!match) {
      this.#at += 1;
      hold(group, 1);
      return false;
    }
    const [whole, from = '', comma, to] = match;
    const least = Number(from);
    const most = comma === undefined ? least : to === undefined ? -1 : Number(to);
    if (least > MAX_REPEAT || most > MAX_REPEAT || (most >= 0 && least > most)) {
      throw new PatternError('invalid repeat count', whole);
    }
    this.#repeat(group, most < 0 ? least : most, lastRepeat, whole.length);
    return true;
  }

  /** True where a group begins; flags alone are none. */
  #openGroup(): boolean {
    const start = this.#at;
    if (this.#text[start + 1] !== '?') {
      this.#at += 1;
      return true;
    }
    const rest = this.#part(start, this.#text.length);
    const named = /^\(\?(?:P<|<)(?=.)/s.exec(rest);
    if (named) return this.#openNamedGroup(rest, named[0].length);
    const flags = /^\(\?(?:[imsU]*(?:-[imsU]+)?)([:)])/.exec(rest);
    if (flags) {
      this.#at += flags[0].length;
      return flags[1] === ':';
    }
    const wrong = /^\(\?[imsU]*(?:-[imsU]*)?.?/su.exec(rest)?.[0] ?? rest;
    throw new PatternError('invalid or unsupported Perl syntax', wrong);
  }

  #openNamedGroup(rest: string, nameAt: number): boolean {
    const end = rest.indexOf('>');
    if (end < 0) throw new PatternError('invalid named capture', rest);
    if (!/^\w+$/.test(rest.slice(nameAt, end))) throw new PatternError('invalid named capture', rest.slice(0, end + 1));
    this.#at += Array.from(rest.slice(0, end + 1)).length;
    return true;
  }

  #class(): void {
    const start = this.#at;
    this.#at += this.#text[start + 1] === '^' ? 2 : 1;
    for (let first = true; first || this.#text[this.#at] !== ']'; first = false) {
      if (this.#namedClass() || this.#unicodeClass() || this.#perlClass()) continue;
      const range = this.#at;
      const low = this.#classChar(start);
      if (this.#text[this.#at] !== '-' || [']', undefined].includes(this.#text[this.#at + 1])) continue;
      this.#at += 1;
      const high = this.#classChar(start);
      if (high < low) throw new PatternError('invalid character class range', this.#part(range));
    }
    this.#at += 1;
  }

  #classChar(start: number): number {
    const char = this.#text[this.#at];
    if (char === undefined) throw new PatternError('missing closing ]', this.#part(start, this.#text.length));
    if (char === '\\') return this.#escape();
    this.#at += 1;
    return char.codePointAt(0) as number;
  }

  #namedClass(): boolean {
    const found = /^\[:.*?:\]/s.exec(this.#part(this.#at, this.#text.length));
    if (!found) return false;
    if (!POSIX_CLASS.test(found[0])) throw new PatternError('invalid character class range', found[0]);
    this.#at += Array.from(found[0]).length;
    return true;
  }

  #unicodeClass(): boolean {
    const rest = this.#part(this.#at, this.#text.length);
    if (!/^\\[pP]/.test(rest)) return false;
    const found = /^\\[pP](?:\{\^?(.*?)\}|([^{]))/su.exec(rest);
    if (!found) throw new PatternError('invalid character class range', rest);
    if (!isUnicodeClass(found[1] ?? found[2] ?? '')) throw new PatternError('invalid character class range', found[0]);
    this.#at += Array.from(found[0]).length;
    return true;
  }

  #perlClass(): boolean {
    if (this.#text[this.#at] !== '\\' || !/^[dswDSW]$/.test(this.#text[this.#at + 1] ?? '')) return false;
    this.#at += 2;
    return true;
  }

  #backslash(): void {
    const next = this.#text[this.#at + 1] ?? '';
    if (next === 'C') throw new PatternError('invalid escape sequence', '\\C');
    if (next === 'Q') {
      const end = this.#part(this.#at, this.#text.length).indexOf('\\E');
      this.#at = end < 0 ? this.#text.length : this.#at + end + 2;
    } else if (/^[AbBz]$/.test(next)) this.#at += 2;
    else if (!this.#unicodeClass() && !this.#perlClass()) this.#escape();
  }

  /** One character that is written with a backslash; returns its code point. */
  #escape(): number {
    const rest = this.#part(this.#at, this.#text.length);
    if (rest === '\\') throw new PatternError('trailing backslash at end of expression', '');
    const octal = /^\\(?:0[0-7]{0,2}|[1-7][0-7]{1,2})/.exec(rest);
    const hex = /^\\x(?:\{([0-9a-fA-F]+)\}|([0-9a-fA-F]{2}))/.exec(rest);
    const code = hex ? Number.parseInt(hex[1] ?? hex[2] ?? '', 16) : 0;
    if (octal || (hex && code <= 0x10ffff)) {
      const [found] = (octal ?? hex) as RegExpExecArray;
      this.#at += found.length;
      return octal ? Number.parseInt(found.slice(1), 8) : code;
    }
    const plain = /^\\(?:[afnrtv]|[^0-9a-zA-Z\u0080-\u{10ffff}])/u.exec(rest);
    if (!plain) throw new PatternError('invalid escape sequence', wrongEscape(rest));
    this.#at += 2;
    return plain[0].codePointAt(1) as number;
  }
}

function hold(group: Group, repeats: number): void {
  group.last = repeats;
  group.repeats = Math.max(group.repeats, repeats);
}

/** How far Go reads an escape before it gives up. */
function wrongEscape(rest: string): string {
  const large = /^\\x\{0*(?:1[1-9a-fA-F]|[2-9a-fA-F].)[0-9a-fA-F]{4}/.exec(rest);
  const hex = large ?? /^\\x(?:\{[0-9a-fA-F]*.?|.{0,2})/su.exec(rest);
  return hex ? hex[0] : Array.from(rest).slice(0, 2).join('');
}

function isUnicodeClass(name: string): boolean {
  if (name === 'Any') return true;
  if (!/^\w+$/.test(name)) return false;
  return [`\\p{gc=${name}}`, `\\p{Script=${name}}`].some((text) => {
    try {
      return new RegExp(text, 'u') instanceof RegExp;
    } catch {
      return false;
    }
  });
}

import { type Script, ShellSyntaxError, type Word, type WordPart } from './syntax.ts';

const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const SPECIAL = /[?$#@*!\-0-9]/y;
const END_OF_WORD = new Set([' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')']);

/** What a word ends before: by itself at a blank or an operator, at `}` in `${X:-word}`, or only at the end of the text. */
type Ending = 'word' | 'brace' | 'text';

/** The text of a script with a place in it, and the reading of words, quotes and `$…`. */
export abstract class WordParser {
  protected readonly text: string;
  protected at = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** The script within `$( )` or backquotes; a parser of the whole language knows. */
  protected abstract commandsUntil(end: ')'): Script;
  protected abstract scriptOf(text: string): Script;

  protected looking(text: string): boolean {
    return this.text.startsWith(text, this.at);
  }

  protected match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found !== undefined) this.at += found.length;
    return found;
  }

  protected unexpectedEnd(what = 'unexpected end of file'): ShellSyntaxError {
    return new ShellSyntaxError(what, true);
  }

  /** A word from here on; empty where none begins. */
  protected word(ending: Ending = 'word'): Word {
    const parts: WordPart[] = [];
    let plain = '';
    const flush = (): void => {
      if (plain !== '') parts.push({ kind: 'text', text: plain, quoted: false });
      plain = '';
    };
    while (this.at < this.text.length && !this.#atEnd(ending)) {
      const char = this.text[this.at] ?? '';
      if (!'\\\'"$`'.includes(char) || (ending === 'text' && '\'"'.includes(char))) {
        plain += char;
        this.at += 1;
        continue;
      }
      const part = this.#special(char, ending);
      if (part === undefined) {
        plain += char;
        this.at += 1;
        continue;
      }
      flush();
      parts.push(...part);
    }
    flush();
    return parts;
  }

  #atEnd(ending: Ending): boolean {
    const char = this.text[this.at] ?? '';
    return ending === 'word' ? END_OF_WORD.has(char) : ending === 'brace' && char === '}';
  }

  #special(char: string, ending: Ending): WordPart[] | undefined {
    if (char === '\\') return this.#escaped(ending === 'text');
    if (char === "'") return [this.#single()];
    if (char === '"') return this.#double();
    const part = this.expansion(ending === 'text');
    return part ? [part] : undefined;
  }

  #escaped(onlySpecial: boolean): WordPart[] | undefined {
    const next = this.text[this.at + 1];
    if (next === undefined) {
      if (onlySpecial) return undefined;
      throw this.unexpectedEnd();
    }
    if (onlySpecial && !'\\$`\n'.includes(next)) return undefined;
    this.at += 2;
    return next === '\n' ? [] : [{ kind: 'text', text: next, quoted: true }];
  }

  #single(): WordPart {
    const end = this.text.indexOf("'", this.at + 1);
    if (end < 0) throw this.unexpectedEnd('unterminated quoted string');
    const text = this.text.slice(this.at + 1, end);
    this.at = end + 1;
    return { kind: 'text', text, quoted: true };
  }

  #double(): WordPart[] {
    this.at += 1;
    const parts: WordPart[] = [{ kind: 'text', text: '', quoted: true }];
    let plain = '';
    for (;;) {
      const char = this.text[this.at];
      if (char === undefined) throw this.unexpectedEnd('unterminated quoted string');
      if (char === '"') break;
      const next = this.text[this.at + 1] ?? '';
      if (char === '\\' && '"\\$`\n'.includes(next) && next !== '') {
        if (next !== '\n') plain += next;
        this.at += 2;
        continue;
      }
      const part = char === '$' || char === '`' ? this.expansion(true) : undefined;
      if (part) {
        parts.push({ kind: 'text', text: plain, quoted: true }, part);
        plain = '';
      } else {
        plain += char;
        this.at += 1;
      }
    }
    this.at += 1;
    parts.push({ kind: 'text', text: plain, quoted: true });
    return parts.filter((part, index) => index === 0 || part.kind !== 'text' || part.text !== '');
  }

  /** What begins with `$` or a backquote; undefined where that is a mere character. */
  protected expansion(quoted: boolean): WordPart | undefined {
    if (this.looking('`')) return { kind: 'command', body: this.#backquoted(), quoted };
    const start = this.at;
    this.at += 1;
    if (this.looking('((')) {
      const expression = this.#arithmetic();
      if (expression) return { kind: 'arithmetic', expression, quoted };
    }
    if (this.looking('(')) {
      this.at += 1;
      const body = this.commandsUntil(')');
      this.at += 1;
      return { kind: 'command', body, quoted };
    }
    if (this.looking('{')) return this.#braced(quoted);
    const name = this.match(NAME) ?? this.match(SPECIAL);
    if (name === undefined) {
      this.at = start;
      return undefined;
    }
    return { kind: 'parameter', name, operator: '', operand: [], quoted };
  }

  #backquoted(): Script {
    let end = this.at + 1;
    while (end < this.text.length && this.text[end] !== '`') end += this.text[end] === '\\' ? 2 : 1;
    if (end >= this.text.length) throw this.unexpectedEnd('EOF in backquote substitution');
    const inner = this.text.slice(this.at + 1, end).replaceAll(/\\([\\$`])/g, '$1');
    this.at = end + 1;
    return this.scriptOf(inner);
  }

  #arithmetic(): Word | undefined {
    let depth = 0;
    for (let end = this.at; end < this.text.length; end += 1) {
      if (this.text[end] === '(') depth += 1;
      if (this.text[end] !== ')') continue;
      depth -= 1;
      if (depth > 0) continue;
      if (this.text[end - 1] !== ')') return undefined;
      const inner = this.text.slice(this.at + 2, end - 1);
      this.at = end + 1;
      return this.wordsOf(inner);
    }
    throw this.unexpectedEnd();
  }

  /** A text in which `$…` stands for something and quotes do not, as that of a here document. */
  protected abstract wordsOf(text: string): Word;

  #braced(quoted: boolean): WordPart {
    this.at += 1;
    if (this.looking('#') && !this.looking('#}')) {
      this.at += 1;
      const name = this.match(NAME) ?? this.match(SPECIAL);
      if (name !== undefined && this.match(/\}/y))
        return { kind: 'parameter', name, operator: 'length', operand: [], quoted };
      throw new ShellSyntaxError('bad substitution');
    }
    const name = this.match(NAME) ?? this.match(/[0-9]+/y) ?? this.match(SPECIAL);
    const operator = this.match(/:[-=+?]|%%|##|[-=+?%#]/y) ?? '';
    if (name === undefined) throw new ShellSyntaxError('bad substitution');
    const operand = operator === '' ? [] : this.word('brace');
    if (this.at >= this.text.length) throw this.unexpectedEnd("missing '}'");
    if (!this.match(/\}/y)) throw new ShellSyntaxError('bad substitution');
    return { kind: 'parameter', name, operator, operand, quoted };
  }
}

import {
  type AndOr,
  type Assignment,
  type Command,
  type CompoundCommand,
  type Pipeline,
  type Redirection,
  type Script,
  ShellSyntaxError,
  type SimpleCommand,
  type Word,
} from './syntax.ts';
import { WordParser } from './word-parser.ts';

const RESERVED_END = new Set(['then', 'else', 'elif', 'fi', 'do', 'done', 'esac', '}']);
const MAX_DEPTH = 100;

/** Reads a script of the POSIX shell. Throws {@link ShellSyntaxError}. */
export function parseScript(text: string): Script {
  return new ScriptParser(text, 0).whole();
}

type Document = { redirection: { target: Word }; delimiter: string; literal: boolean; tabs: boolean };

class ScriptParser extends WordParser {
  readonly #documents: Document[] = [];
  #depth: number;

  constructor(text: string, depth: number) {
    super(text);
    this.#depth = depth;
    if (depth > MAX_DEPTH) throw new ShellSyntaxError('too deeply nested');
  }

  whole(): Script {
    const script = this.#script();
    if (this.at < this.text.length) throw this.#unexpected();
    if (this.#documents.length > 0) this.#readDocuments();
    return script;
  }

  protected override commandsUntil(end: ')'): Script {
    const script = this.#script();
    if (!this.looking(end)) throw this.#unexpected();
    return script;
  }

  protected override scriptOf(text: string): Script {
    return new ScriptParser(text, this.#depth + 1).whole();
  }

  protected override wordsOf(text: string): Word {
    return new ScriptParser(text, this.#depth + 1).word('text');
  }

  #unexpected(): ShellSyntaxError {
    this.#blank();
    if (this.at >= this.text.length) return this.unexpectedEnd();
    const next = this.match(/&&|\|\||;;|[;&|()<>]|\n|[^\s;&|()<>]+/y);
    return new ShellSyntaxError(next === '\n' ? 'unexpected newline' : `unexpected "${next ?? ''}"`);
  }

  #blank(): void {
    this.match(/(?:[ \t]|\\\n)*(?:#[^\n]*)?/y);
  }

  #newlines(): void {
    this.#blank();
    while (this.looking('\n')) {
      this.at += 1;
      if (this.#documents.length > 0) this.#readDocuments();
      this.#blank();
    }
  }

  #script(): Script {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new ShellSyntaxError('too deeply nested');
    const list: AndOr[] = [];
    this.#newlines();
    while (this.at < this.text.length && !this.looking(')') && !this.looking(';;') && !this.#reservedEnd()) {
      list.push(this.#andOr());
      this.#newlines();
    }
    this.#depth -= 1;
    return list;
  }

  #reservedEnd(): boolean {
    const word = this.#peek();
    return word !== undefined && RESERVED_END.has(word);
  }

  /** The plain word that begins here. */
  #peek(): string | undefined {
    const pattern = /[^\s;&|()<>'"\\$`]+/y;
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    return found !== undefined &&
      /^(?:[\s;&|()<>]|$)/.test(this.text.slice(this.at + found.length, this.at + found.length + 1))
      ? found
      : undefined;
  }

  #expect(word: string): void {
    this.#newlines();
    if (this.#peek() !== word) throw this.#unexpected();
    this.at += word.length;
  }

  #andOr(): AndOr {
    const start = this.at;
    const first = this.#pipeline();
    const rest: { operator: '&&' | '||'; pipeline: Pipeline }[] = [];
    for (this.#blank(); this.looking('&&') || this.looking('||'); this.#blank()) {
      const operator = this.looking('&&') ? '&&' : '||';
      this.at += 2;
      this.#newlines();
      rest.push({ operator, pipeline: this.#pipeline() });
    }
    const text = this.text.slice(start, this.at).trim();
    const background = this.looking('&');
    if (background || (this.looking(';') && !this.looking(';;'))) this.at += 1;
    else if (this.at < this.text.length && !this.looking('\n') && !this.looking(')') && !this.looking(';;')) {
      throw this.#unexpected();
    }
    return { first, rest, background, text };
  }

  #pipeline(): Pipeline {
    this.#blank();
    let negated = false;
    while (this.#peek() === '!') {
      negated = !negated;
      this.at += 1;
      this.#blank();
    }
    const commands = [this.#command()];
    for (this.#blank(); this.looking('|') && !this.looking('||'); this.#blank()) {
      this.at += 1;
      this.#newlines();
      commands.push(this.#command());
    }
    return { negated, commands };
  }

  #command(): Command {
    this.#blank();
    const compound = this.#compound();
    if (compound) return { ...compound, redirections: this.#redirections() };
    const name = this.match(/[A-Za-z_][A-Za-z0-9_]*(?=[ \t]*\([ \t]*\))/y);
    if (name === undefined) return this.#simple();
    this.match(/[ \t]*\([ \t]*\)/y);
    this.#newlines();
    return { kind: 'function', name, body: this.#command() };
  }

  #compound(): CompoundCommand | undefined {
    if (this.looking('(')) {
      this.at += 1;
      const body = this.commandsUntil(')');
      this.at += 1;
      return { kind: 'subshell', body, redirections: [] };
    }
    const word = this.#peek();
    switch (word) {
      case '{':
        this.at += 1;
        return { kind: 'group', body: this.#until('}'), redirections: [] };
      case 'if':
        return this.#if();
      case 'while':
      case 'until': {
        this.at += word.length;
        const condition = this.#until('do');
        return { kind: 'loop', until: word === 'until', condition, body: this.#until('done'), redirections: [] };
      }
      case 'for':
        return this.#for();
      case 'case':
        return this.#case();
      default:
        return undefined;
    }
  }

  #until(word: string): Script {
    const script = this.#script();
    this.#expect(word);
    return script;
  }

  #if(): CompoundCommand {
    const branches: { condition: Script; body: Script }[] = [];
    do {
      this.at += branches.length === 0 ? 'if'.length : 'elif'.length;
      const condition = this.#until('then');
      branches.push({ condition, body: this.#script() });
    } while (this.#peek() === 'elif');
    let otherwise: Script | undefined;
    if (this.#peek() === 'else') {
      this.at += 'else'.length;
      otherwise = this.#script();
    }
    this.#expect('fi');
    return { kind: 'if', branches, otherwise, redirections: [] };
  }

  #for(): CompoundCommand {
    this.at += 'for'.length;
    this.#blank();
    const name = this.match(/[A-Za-z_][A-Za-z0-9_]*/y);
    if (name === undefined) throw this.#unexpected();
    this.#newlines();
    let words: Word[] | undefined;
    if (this.#peek() === 'in') {
      this.at += 'in'.length;
      words = this.#words();
    }
    this.#blank();
    if (this.looking(';')) this.at += 1;
    this.#expect('do');
    return { kind: 'for', name, words, body: this.#until('done'), redirections: [] };
  }

  #words(): Word[] {
    const words: Word[] = [];
    for (;;) {
      this.#blank();
      const word = this.word();
      if (word.length === 0) return words;
      words.push(word);
    }
  }

  #case(): CompoundCommand {
    this.at += 'case'.length;
    this.#blank();
    const subject = this.word();
    this.#expect('in');
    const branches: { patterns: Word[]; body: Script }[] = [];
    for (this.#newlines(); this.#peek() !== 'esac'; this.#newlines()) {
      if (this.looking('(')) this.at += 1;
      const patterns: Word[] = [];
      do {
        if (patterns.length > 0) this.at += 1;
        this.#blank();
        const pattern = this.word();
        if (pattern.length === 0) throw this.#unexpected();
        patterns.push(pattern);
        this.#blank();
      } while (this.looking('|'));
      if (!this.looking(')')) throw this.#unexpected();
      this.at += 1;
      branches.push({ patterns, body: this.#script() });
      if (this.looking(';;')) this.at += 2;
    }
    this.at += 'esac'.length;
    return { kind: 'case', subject, branches, redirections: [] };
  }

  #simple(): SimpleCommand {
    const assignments: Assignment[] = [];
    const words: Word[] = [];
    const redirections: Redirection[] = [];
    for (;;) {
      this.#blank();
      const redirection = this.#redirection();
      if (redirection) {
        redirections.push(redirection);
        continue;
      }
      const name = words.length === 0 ? this.match(/[A-Za-z_][A-Za-z0-9_]*(?==)/y) : undefined;
      if (name !== undefined) {
        this.at += 1;
        assignments.push({ name, value: this.word() });
        continue;
      }
      const word = this.word();
      if (word.length === 0) break;
      words.push(word);
    }
    if (assignments.length + words.length + redirections.length === 0) throw this.#unexpected();
    return { kind: 'simple', assignments, words, redirections };
  }

  #redirections(): Redirection[] {
    const redirections: Redirection[] = [];
    for (;;) {
      this.#blank();
      const redirection = this.#redirection();
      if (!redirection) return redirections;
      redirections.push(redirection);
    }
  }

  #redirection(): Redirection | undefined {
    const found = this.match(/[0-9]?(?:<<-|<<|<>|<&|>>|>&|>\||<|>)/y);
    if (found === undefined) return undefined;
    const operator = found.replace(/^[0-9]/, '');
    const descriptor = found === operator ? (operator.startsWith('<') ? 0 : 1) : Number(found[0]);
    this.#blank();
    const start = this.at;
    const target = this.word();
    if (target.length === 0) throw this.#unexpected();
    if (!operator.startsWith('<<')) return { descriptor, operator: operator as Redirection['operator'], target };
    const redirection: Redirection = { descriptor, operator: '<<', target: [] };
    const raw = this.text.slice(start, this.at);
    const delimiter = raw.replaceAll(/["'\\]/g, '');
    this.#documents.push({ redirection, delimiter, literal: raw !== delimiter, tabs: operator === '<<-' });
    return redirection;
  }

  #readDocuments(): void {
    for (const { redirection, delimiter, literal, tabs } of this.#documents.splice(0)) {
      let body = '';
      for (;;) {
        if (this.at >= this.text.length) throw this.unexpectedEnd();
        const end = this.text.indexOf('\n', this.at);
        const whole = this.text.slice(this.at, end < 0 ? undefined : end);
        this.at = end < 0 ? this.text.length : end + 1;
        const line = tabs ? whole.replace(/^\t+/, '') : whole;
        if (line === delimiter) break;
        body += `${line}\n`;
      }
      redirection.target = literal ? [{ kind: 'text', text: body, quoted: true }] : this.wordsOf(body);
    }
  }
}

import { withoutTrailing } from '@asterism/machinery';
import type { AndOr, Command, CommandNode, CompoundList, Pipeline, ParsedScript, PipelineNode } from 'unbash';
import { parse } from 'unbash';
import { BrokenPipe, emptySource, Pipe } from '../byte-stream.ts';
import { FileError } from '../file-system.ts';
import { findProgram } from '../find-program.ts';
import { readAll } from '../read-lines.ts';
import { checkMemory, Interrupted, type SignalName, type Streams, type Task } from '../task.ts';
import { BUILTINS } from './builtins.ts';
import { type Expandable, expandText, expandWords } from './expansion.ts';
import { redirect } from './redirect.ts';
import { runCompound } from './run-compound.ts';
import { Jump, ShellError } from './shell-error.ts';

const MAX_DEPTH = 1000;
/** Nodes that only hold commands. They do not count as work. */
const LISTS: ReadonlySet<string> = new Set(['Script', 'CompoundList', 'AndOr', 'Pipeline', 'Redirected']);
const BROKEN_PIPE = 141;
/** Other shells run these themselves: if nobody reads their output, the shell ends too. */
const WITHIN: ReadonlySet<string> = new Set(['echo', 'printf']);
/** `wait` knows this many commands that run in the background or have ended. */
const MAX_JOBS = 64;

export type Runnable = PipelineNode | AndOr | CompoundList | ParsedScript;

/** Runs scripts as one process. The grammar is that of `unbash`; constructs that only Bash has are refused. */
export class Shell {
  readonly task: Task;
  name: string;
  readonly variables: Map<string, string>;
  readonly exported: Set<string>;
  readonly functions: Map<string, Runnable>;
  /** `-e` and `-x`. */
  readonly flags: Set<string>;
  readonly traps = new Map<string, string>();
  readonly jobs = new Map<number, Promise<number>>();
  positional: readonly string[];
  status = 0;
  interactive = false;
  /** The user typed `^C`, and the command that runs has not ended yet. */
  interrupted = false;
  /** The next trap ends what the shell waits for. */
  waiting = false;
  /** Signals whose traps have not run yet. */
  readonly pending: SignalName[] = [];
  /** The process that `$$` names, in subshells too. */
  readonly #root: number;
  #lastJob: number | undefined;
  #depth = 0;
  /** Inside conditions, where a failure does not end a shell with `-e`. */
  #conditions = 0;
  #substituted = false;

  /** A new shell, or a copy of `from` for a subshell. */
  constructor(task: Task, from?: Shell) {
    this.task = task;
    this.name = from?.name ?? 'sh';
    this.positional = from?.positional ?? [];
    this.variables = new Map(from?.variables ?? [['PWD', task.directory], ...task.environment]);
    this.exported = new Set(from?.exported ?? task.environment.keys());
    this.functions = new Map(from?.functions);
    this.flags = new Set(from?.flags);
    this.status = from?.status ?? 0;
    this.#conditions = from ? from.#conditions : 0;
    this.#root = from ? from.#root : task.pid;
    task.catchSignal = (signal) => this.#catch(signal);
  }

  /** The value of a variable or parameter. */
  get(name: string): string | undefined {
    if (name === '@' || name === '*') return this.positional.length > 0 ? this.positional.join(' ') : undefined;
    if (/^[1-9]\d*$/.test(name)) return this.positional[Number(name) - 1];
    const special = {
      '?': this.status,
      $: this.#root,
      '#': this.positional.length,
      '!': this.#lastJob,
      0: this.name,
    };
    if (Object.hasOwn(special, name)) return special[name as keyof typeof special]?.toString();
    return this.variables.get(name);
  }

  set(name: string, value: string): void {
    checkMemory(value.length);
    this.variables.set(name, value);
  }

  #environment(extra: ReadonlyMap<string, string> = new Map()): Map<string, string> {
    return new Map([...this.variables.entries().filter(([name]) => this.exported.has(name)), ...extra]);
  }

  /** The text that a word expands to, neither split nor matched against files. */
  expand(word: Expandable): Promise<string> {
    return expandText(this, word);
  }

  /** The output of a command substitution, without the newlines at its end. */
  async substitute(script: ParsedScript): Promise<string> {
    const pipe = new Pipe();
    const done = this.fork({ stdout: pipe }, script).finally(() => pipe.end());
    const output = await readAll(this.task, pipe).finally(() => pipe.close());
    this.status = await done;
    this.#substituted = true;
    return withoutTrailing(output.toString(), '\n').replaceAll('\0', '');
  }

  /** Runs commands in a subshell: its exit code. */
  fork(streams: Partial<Streams>, body: Runnable, started?: (task: Task) => void): Promise<number> {
    const environment = this.#environment();
    const task = this.task.spawn(['sh'], { streams: { ...this.task.streams, ...streams }, environment });
    const shell = new Shell(task, this);
    started?.(task);
    return task.run(() => shell.finish(() => shell.execute(body)));
  }

  /** Runs to the end of the shell: its exit code, after the trap for `EXIT`. */
  async finish(body: () => Promise<void>): Promise<number> {
    await this.#untilEnd(body);
    const trap = this.traps.get('EXIT');
    this.traps.delete('EXIT');
    const { status } = this;
    if (trap === undefined) return status;
    const jumped = await this.#untilEnd(() => this.runText(trap));
    return jumped ? this.status : status;
  }

  /** Whether an error or a jump ended the body. */
  async #untilEnd(body: () => Promise<void>): Promise<boolean> {
    try {
      await body();
      return false;
    } catch (error) {
      if (error instanceof Jump) this.status = error.kind === 'exit' ? error.value & 0xff : this.status;
      else if (error instanceof Interrupted) this.status = 130;
      else if (error instanceof ShellError) await this.fail(error);
      else throw error;
      return true;
    }
  }

  async fail({ message }: ShellError): Promise<void> {
    await this.complain(message);
    this.status = 2;
  }

  async complain(message: string): Promise<void> {
    await this.task.write(`${this.name.replace(/^.*\//, '')}: ${message}\n`, this.task.streams.stderr);
  }

  runText(text: string): Promise<void> {
    return this.execute(parse(text));
  }

  async #list({ commands }: CompoundList | ParsedScript): Promise<void> {
    for (const { command, background } of commands) {
      if (background) this.#background(command);
      else await this.execute(command);
    }
  }

  /** Whether a condition holds. */
  async holds(condition: Runnable): Promise<boolean> {
    this.#conditions += 1;
    try {
      await this.execute(condition);
    } finally {
      this.#conditions -= 1;
    }
    return this.status === 0;
  }

  async execute(node: Runnable): Promise<void> {
    if (this.#depth >= MAX_DEPTH) throw new ShellError('too deeply nested');
    this.#depth += 1;
    try {
      if (!LISTS.has(node.type)) await this.task.step();
      await this.#dispatch(node);
    } finally {
      this.#depth -= 1;
    }
    await this.#runTraps();
    const counts =
      node.type === 'Command' || node.type === 'Subshell' || (node.type === 'Pipeline' && !isNegated(node));
    if (counts && this.status !== 0 && this.#conditions === 0 && this.flags.has('e'))
      throw new Jump('exit', this.status);
  }

  async #dispatch(node: Runnable): Promise<void> {
    switch (node.type) {
      case 'Script':
        if (node.errors?.[0]) throw new ShellError(`syntax error: ${node.errors[0].message}`);
        return this.#list(node);
      case 'CompoundList':
        return this.#list(node);
      case 'AndOr':
        return this.#andOr(node);
      case 'Pipeline':
        return this.#pipeline(node);
      case 'Command':
        if (node.name?.text === 'exec' && node.args.length === 0) {
          this.task.streams = await redirect(this, node.redirects);
          return;
        }
        return this.redirected(node.redirects, () => this.#simple(node));
      case 'Function':
        this.functions.set(node.name.value, node.body);
        this.status = 0;
        return;
      default:
        return runCompound(this, node);
    }
  }

  #background(node: Runnable): void {
    const done = this.fork({ stdin: emptySource }, node, (task) => {
      task.background = true;
      this.#lastJob = task.pid;
    });
    const [oldest] = this.jobs.keys();
    if (this.jobs.size >= MAX_JOBS && oldest !== undefined) this.jobs.delete(oldest);
    if (this.#lastJob !== undefined) this.jobs.set(this.#lastJob, done);
    this.status = 0;
  }

  async #andOr({ commands, operators }: AndOr): Promise<void> {
    for (const [index, command] of commands.entries()) {
      if (index > 0 && (operators[index - 1] === '&&') !== (this.status === 0)) continue;
      if (index < commands.length - 1) await this.holds(command);
      else await this.execute(command);
    }
  }

  async #pipeline(node: Pipeline): Promise<void> {
    const [only] = node.commands;
    if (only && node.commands.length === 1) await (isNegated(node) ? this.holds(only) : this.execute(only));
    else this.status = await this.#pipe(node.commands);
    if (isNegated(node)) this.status = Number(this.status === 0);
  }

  async #pipe(commands: readonly CommandNode[]): Promise<number> {
    let { stdin } = this.task.streams;
    const running = commands.map((command, index) => {
      const [input, pipe] = [stdin, index < commands.length - 1 ? new Pipe() : undefined];
      if (pipe) stdin = pipe;
      return this.fork({ stdin: input, ...(pipe && { stdout: pipe }) }, command).finally(() => {
        pipe?.end();
        if (index > 0) input.close();
      });
    });
    return (await Promise.all(running)).at(-1) ?? 0;
  }

  /** Runs the body with redirected streams, unless a file cannot be opened. */
  async redirected(redirects: Command['redirects'], body: () => Promise<void>): Promise<void> {
    const before = this.task.streams;
    try {
      this.task.streams = await redirect(this, redirects);
      await body();
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      await this.complain(`${error.path}: ${error.message}`);
      this.status = 1;
    } finally {
      this.task.streams = before;
    }
  }

  async #simple({ name, prefix, args }: Command): Promise<void> {
    this.#substituted = false;
    const words = await this.#fields(name, args);
    const [command] = words;
    const body = this.functions.get(command ?? '');
    const builtin = BUILTINS.get(command ?? '');
    const program = command !== undefined && !body && !builtin;
    const assigned = new Map<string, string>();
    for (const each of prefix) {
      if (each.type !== 'Assignment') continue;
      if (each.value.type !== 'Word') throw new ShellError('syntax error: arrays are not supported');
      const value = await this.expand(each.value);
      if (program) assigned.set(each.name, value);
      else this.set(each.name, value);
    }
    if (this.flags.has('x')) await this.task.write(`+ ${words.join(' ')}\n`, this.task.streams.stderr);
    if (program) this.status = await this.runProgram(words, assigned);
    else if (body) await this.#call(body, words.slice(1));
    else if (builtin) this.status = await builtin(this, words.slice(1));
    else if (!this.#substituted) this.status = 0;
  }

  /** The name and arguments of a command. An argument such as `A=$B` is not split. */
  async #fields(name: Command['name'], args: Command['args']): Promise<string[]> {
    const words = name ? await expandWords(this, [name]) : [];
    for (const each of args) {
      if (each.type === 'Word') words.push(...(await expandWords(this, [each])));
      else if (each.value.type === 'Word') words.push(`${each.name}=${await this.expand(each.value)}`);
    }
    return words;
  }

  async #call(body: Runnable, args: readonly string[]): Promise<void> {
    const before = this.positional;
    this.positional = args;
    try {
      await this.execute(body);
    } catch (error) {
      if (!(error instanceof Jump) || error.kind !== 'return') throw error;
      this.status = error.value & 0xff;
    } finally {
      this.positional = before;
    }
  }

  /** Runs a program in the foreground: its exit code. */
  async runProgram(words: readonly string[], assigned?: ReadonlyMap<string, string>): Promise<number> {
    const found = findProgram(this.task, words);
    if ('code' in found) {
      await this.complain(`${words[0] ?? ''}: ${found.message}`);
      return found.code;
    }
    const child = this.task.spawn(found.argv, { environment: this.#environment(assigned) });
    const code = await child.run(found.program);
    if (code === BROKEN_PIPE && WITHIN.has(words[0] ?? '')) throw new BrokenPipe('broken pipe');
    await this.task.step();
    this.#checkInterrupt();
    return code;
  }

  #checkInterrupt(): void {
    if (!this.interrupted) return;
    this.interrupted = false;
    throw new Interrupted('interrupted');
  }

  #catch(signal: SignalName): boolean {
    if (this.interactive && signal === 'INT') {
      this.interrupted = true;
      this.task.killChildren('INT');
      this.task.interrupt();
      return true;
    }
    const trap = this.traps.get(signal);
    if (trap === undefined) return this.interactive && signal === 'TERM';
    if (trap !== '') this.pending.push(signal);
    if (trap !== '' && this.waiting) this.task.interrupt();
    return true;
  }

  async #runTraps(): Promise<void> {
    this.#checkInterrupt();
    for (let signal = this.pending.shift(); signal; signal = this.pending.shift()) {
      const { status } = this;
      await this.runText(this.traps.get(signal) ?? '');
      this.status = status;
    }
  }
}

function isNegated({ prefixes }: Pipeline): boolean {
  return prefixes.some(({ type }) => type === 'Negation');
}

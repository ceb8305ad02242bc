import { withoutTrailing } from '@asterism/machinery';
import { emptySource, Pipe } from '../byte-stream.ts';
import { FileError, type FileSystem } from '../file-system.ts';
import { findProgram } from '../find-program.ts';
import { readAll } from '../read-lines.ts';
import { checkMemory, Interrupted, SIGNAL_NUMBERS, type SignalName, type Streams, type Task } from '../task.ts';
import { type Builtin, BUILTINS } from './builtins.ts';
import { BreakLoop, ExitShell, ReturnFunction } from './control-flow.ts';
import { ExpansionError, type ExpansionScope, expandText, expandWords } from './expansion.ts';
import { parseScript } from './parse-script.ts';
import { redirect } from './redirect.ts';
import { runCompound } from './run-compound.ts';
import { copyState, type Job, type ShellState } from './shell-state.ts';
import { specialParameter } from './special-parameter.ts';
import {
  type AndOr,
  type Command,
  type Pipeline,
  type Script,
  ShellSyntaxError,
  type SimpleCommand,
} from './syntax.ts';

/** So many commands in the background that have ended are remembered, for `wait`. */
const MAX_ENDED_JOBS = 64;
const MAX_DEPTH = 500;

/** Programs that the shell runs as a part of itself, since they are called often. */
const WITHIN = new Set(['echo', 'printf', 'test', '[', 'true', 'false', 'pwd', 'kill']);

/** Runs scripts as one process. */
export class Shell implements ExpansionScope {
  readonly task: Task;
  readonly state: ShellState;
  readonly traps = new Map<string, string>();
  readonly jobs: Job[] = [];
  status = 0;
  interactive = false;
  streams: Streams;
  /** Within a condition, where a failure is an answer: `set -e` does not count. */
  conditions = 0;
  /** In a builtin that a caught signal cuts short. */
  waiting = false;
  /** The process that `$$` names, in subshells too. */
  readonly root: number;
  #pending: SignalName[] = [];
  #interrupted = false;
  #depth = 0;
  lastJob: number | undefined;
  /** Whether the command at hand has run a substitution, whose status is its own then. */
  #substituted = false;

  constructor(task: Task, state: ShellState, root?: number) {
    this.task = task;
    this.state = state;
    this.streams = task.streams;
    this.root = root ?? task.pid;
    task.catchSignal = (signal) => this.#catch(signal);
  }

  get files(): FileSystem {
    return this.task.machine.files;
  }

  get directory(): string {
    return this.state.directory;
  }

  get positional(): readonly string[] {
    return this.state.positional;
  }

  get(name: string): string | undefined {
    const special = specialParameter(this, name);
    if (special !== undefined) return special;
    if (/^\d+$/.test(name)) return this.positional[Number(name) - 1];
    const value = this.state.variables.get(name);
    if (value === undefined && this.state.flags.has('u') && name !== 'IFS')
      throw new ExpansionError(`${name}: parameter not set`);
    return value;
  }

  set(name: string, value: string): void {
    checkMemory(value.length);
    this.state.variables.set(name, value);
  }

  async substitute(body: Script): Promise<string> {
    const pipe = new Pipe();
    const child = this.fork({ ...this.streams, stdout: pipe }, ['sh']);
    const done = child.runAsProcess(body).finally(() => pipe.end());
    const output = await readAll(this.task, pipe).finally(() => pipe.close());
    this.status = await done;
    this.#substituted = true;
    return withoutTrailing(output.toString(), '\n').replaceAll('\0', '');
  }

  /** A shell of its own with a copy of this one's state. */
  fork(streams: Streams, argv: readonly string[]): Shell {
    const task = this.task.spawn(argv, { streams, environment: this.environment(), directory: this.directory });
    const shell = new Shell(task, copyState(this.state), this.root);
    shell.status = this.status;
    shell.conditions = this.conditions;
    return shell;
  }

  /** What its programs get as their environment. */
  environment(extra: ReadonlyMap<string, string> = new Map()): Map<string, string> {
    const { exported, variables } = this.state;
    const all = [...exported].flatMap((name) => {
      const value = variables.get(name);
      return value === undefined ? [] : [[name, value] as const];
    });
    return new Map([...all, ...extra]);
  }

  /** Runs a script as the whole of the task, with the trap of its end. Never rejects. */
  runAsProcess(script: Script | string): Promise<number> {
    return this.task.run(() =>
      this.finish(() => (typeof script === 'string' ? this.runText(script) : this.run(script))),
    );
  }

  /** Runs something to the end of the shell: its exit code, after the trap for `EXIT`. */
  async finish(body: () => Promise<void>): Promise<number> {
    try {
      await body();
      await this.runTraps();
    } catch (error) {
      this.status = await this.#statusOf(error);
    }
    const trap = this.traps.get('EXIT');
    if (trap === undefined) return this.status;
    this.traps.delete('EXIT');
    const { status } = this;
    try {
      await this.runText(trap);
    } catch (error) {
      return this.#statusOf(error);
    }
    return status;
  }

  async #statusOf(error: unknown): Promise<number> {
    if (error instanceof ExitShell) return error.code;
    if (error instanceof BreakLoop || error instanceof ReturnFunction) return this.status;
    if (error instanceof Interrupted) return 130;
    if (!(error instanceof ShellSyntaxError || error instanceof ExpansionError)) throw error;
    await this.complain(error.message);
    return 2;
  }

  async runText(text: string): Promise<void> {
    await this.#nested(() => this.run(parseScript(text)));
  }

  async #nested(body: () => Promise<void>): Promise<void> {
    if (this.#depth >= MAX_DEPTH) throw new ExpansionError('too deeply nested');
    this.#depth += 1;
    try {
      await body();
    } finally {
      this.#depth -= 1;
    }
  }

  async complain(message: string): Promise<void> {
    await this.task.write(`${this.state.name.replace(/^.*\//, '')}: ${message}\n`, this.streams.stderr);
  }

  async run(script: Script): Promise<void> {
    for (const each of script) {
      if (each.background) this.#background(each);
      else await this.#andOr(each);
    }
  }

  /** Whether a condition holds; its failure does not end a shell with `-e`. */
  async holds(condition: Script): Promise<boolean> {
    this.conditions += 1;
    try {
      await this.run(condition);
    } finally {
      this.conditions -= 1;
    }
    return this.status === 0;
  }

  #background(each: AndOr): void {
    const shell = this.fork({ ...this.streams, stdin: emptySource }, ['sh', '-c', each.text]);
    shell.task.background = true;
    const done = shell.runAsProcess([{ ...each, background: false }]);
    const job: Job = { task: shell.task, done, ended: false };
    void done.then(() => {
      job.ended = true;
    });
    const ended = this.jobs.filter((other) => other.ended);
    if (ended.length > MAX_ENDED_JOBS && ended[0]) this.jobs.splice(this.jobs.indexOf(ended[0]), 1);
    this.jobs.push(job);
    this.lastJob = shell.task.pid;
    this.status = 0;
  }

  async #andOr({ first, rest }: AndOr): Promise<void> {
    const pipelines = [first, ...rest.map((each) => each.pipeline)];
    for (const [index, pipeline] of pipelines.entries()) {
      const operator = rest[index - 1]?.operator;
      if (operator && (operator === '&&') !== (this.status === 0)) continue;
      const last = index === pipelines.length - 1;
      if (!last || pipeline.negated) this.conditions += 1;
      try {
        await this.#pipeline(pipeline);
      } finally {
        if (!last || pipeline.negated) this.conditions -= 1;
      }
      if (last && !pipeline.negated && this.status !== 0 && this.conditions === 0 && this.state.flags.has('e')) {
        throw new ExitShell(this.status);
      }
    }
  }

  async #pipeline({ commands, negated }: Pipeline): Promise<void> {
    const [only] = commands;
    if (only && commands.length === 1) await this.#command(only);
    else this.status = await this.#pipe(commands);
    if (negated) this.status = this.status === 0 ? 1 : 0;
    await this.runTraps();
  }

  async #pipe(commands: readonly Command[]): Promise<number> {
    let { stdin } = this.streams;
    const running = commands.map((command, index) => {
      const pipe = index < commands.length - 1 ? new Pipe() : undefined;
      const input = stdin;
      const shell = this.fork({ ...this.streams, stdin: input, ...(pipe ? { stdout: pipe } : {}) }, ['sh']);
      if (pipe) stdin = pipe;
      const pipeline: Pipeline = { negated: false, commands: [command] };
      return shell.runAsProcess([{ first: pipeline, rest: [], background: false, text: '' }]).finally(() => {
        pipe?.end();
        if (index > 0) input.close();
      });
    });
    return (await Promise.all(running)).at(-1) ?? 0;
  }

  async #command(command: Command): Promise<void> {
    await this.task.step();
    if (command.kind === 'function') {
      this.state.functions.set(command.name, command.body);
      this.status = 0;
      return;
    }
    if (command.kind === 'simple') return this.#simple(command);
    const before = this.streams;
    const streams = await this.#redirected(command.redirections);
    if (!streams) return;
    this.streams = streams;
    try {
      await runCompound(this, command);
    } finally {
      this.streams = before;
    }
  }

  async #redirected(redirections: SimpleCommand['redirections']): Promise<Streams | undefined> {
    if (redirections.length === 0) return this.streams;
    try {
      return await redirect(this.task, this, this.streams, redirections);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      await this.complain(`${error.path}: ${error.message}`);
      this.status = 1;
      return undefined;
    }
  }

  async #simple(command: SimpleCommand): Promise<void> {
    this.#substituted = false;
    const words = await expandWords(this, command.words);
    const streams = await this.#redirected(command.redirections);
    if (!streams) return;
    const assigned = new Map<string, string>();
    for (const { name, value } of command.assignments) assigned.set(name, await expandText(this, value));
    if (this.state.flags.has('x')) await this.task.write(`+ ${words.join(' ')}\n`, streams.stderr);
    const [name] = words;
    if (name === undefined) {
      for (const [key, value] of assigned) this.set(key, value);
      if (!this.#substituted) this.status = 0;
      return;
    }
    const builtin = BUILTINS.get(name);
    const body = this.state.functions.get(name);
    if (!builtin && !body) {
      this.status = await this.runProgram(words, streams, assigned);
      return;
    }
    for (const [key, value] of assigned) this.set(key, value);
    this.status = body
      ? await this.#function(body, words, streams)
      : await this.#builtin(builtin as Builtin, words, streams);
  }

  async #builtin(builtin: Builtin, words: readonly string[], streams: Streams): Promise<number> {
    const before = this.streams;
    this.streams = streams;
    let keep = false;
    try {
      const code = await builtin(this, words.slice(1));
      keep = words[0] === 'exec';
      return code;
    } catch (error) {
      if (error instanceof FileError) {
        await this.complain(`${words[0]}: ${error.path}: ${error.message}`);
        return 1;
      }
      const signal = this.#pending[0];
      if (error instanceof Interrupted && signal && !this.#interrupted) return 128 + SIGNAL_NUMBERS[signal];
      throw error;
    } finally {
      if (!keep) this.streams = before;
    }
  }

  async #function(body: Command, words: readonly string[], streams: Streams): Promise<number> {
    const [before, positional] = [this.streams, this.state.positional];
    this.streams = streams;
    this.state.positional = words.slice(1);
    try {
      await this.#nested(() => this.#command(body));
      return this.status;
    } catch (error) {
      if (error instanceof ReturnFunction) return error.code;
      throw error;
    } finally {
      this.streams = before;
      this.state.positional = positional;
    }
  }

  /** Runs a program in the foreground: its exit code. */
  async runProgram(
    words: readonly string[],
    streams: Streams,
    assigned?: ReadonlyMap<string, string>,
  ): Promise<number> {
    this.task.directory = this.directory;
    const found = findProgram(this.task, words);
    if ('code' in found) {
      await this.task.write(
        `${this.state.name.replace(/^.*\//, '')}: ${words[0] ?? ''}: ${found.message}\n`,
        streams.stderr,
      );
      return found.code;
    }
    const builtin = WITHIN.has(words[0] ?? '');
    const environment = this.environment(assigned);
    const child = this.task.spawn(found.argv, { streams, environment, directory: this.directory, builtin });
    const code = await child.run(found.program);
    await this.task.step();
    this.#checkInterrupt();
    return code;
  }

  #checkInterrupt(): void {
    if (!this.#interrupted) return;
    this.#interrupted = false;
    throw new Interrupted('interrupted');
  }

  #catch(signal: SignalName): boolean {
    if (this.interactive && signal === 'INT') {
      this.#interrupted = true;
      this.task.killChildren('INT');
      this.task.interrupt();
      return true;
    }
    const trap = this.traps.get(signal);
    if (trap === undefined) return this.interactive && signal === 'TERM';
    if (trap !== '') {
      this.#pending.push(signal);
      if (this.waiting) this.task.interrupt();
    }
    return true;
  }

  /** Forgets an interrupt that was told already. */
  clearInterrupt(): void {
    this.#interrupted = false;
  }

  /** Runs the traps of the signals that came in the meantime. */
  async runTraps(): Promise<void> {
    this.#checkInterrupt();
    for (let signal = this.#pending.shift(); signal; signal = this.#pending.shift()) {
      const { status } = this;
      await this.runText(this.traps.get(signal) ?? '');
      this.status = status;
    }
  }
}

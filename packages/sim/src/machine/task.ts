import { setImmediate as nextTurn } from 'node:timers/promises';
import { BrokenPipe, type Sink, type Source } from './byte-stream.ts';
import { absolutePath, FileError } from './file-system.ts';
import type { Machine } from './machine.ts';

export type SignalName = 'HUP' | 'INT' | 'QUIT' | 'KILL' | 'USR1' | 'USR2' | 'TERM';

export const SIGNAL_NUMBERS: Readonly<Record<SignalName, number>> = {
  HUP: 1,
  INT: 2,
  QUIT: 3,
  KILL: 9,
  USR1: 10,
  USR2: 12,
  TERM: 15,
};

/** A signal ended the process. */
export class Killed extends Error {
  override readonly name = 'Killed';
  readonly signal: SignalName;

  constructor(signal: SignalName) {
    super(`killed by SIG${signal}`);
    this.signal = signal;
  }
}

/** A wait of a process was cut short by a signal that it catches. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** A program was called wrongly; it says so and ends with that code. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly code: number;

  constructor(message: string, code = 1) {
    super(message);
    this.code = code;
  }
}

const MEMORY_LIMIT = 64 * 1024 * 1024;

/** Throws where a process would hold more than it may: an endless input must not end the simulation. */
export function checkMemory(bytes: number): void {
  if (bytes > MEMORY_LIMIT) throw new UsageError('out of memory');
}

/** A program: its exit code. It may throw {@link UsageError} and `FileError`, which are told on its standard error. */
export type Program = (task: Task, args: readonly string[]) => Promise<number> | number;

export interface Streams {
  stdin: Source;
  stdout: Sink;
  stderr: Sink;
}

export interface TaskOptions {
  machine: Machine;
  argv: readonly string[];
  environment: ReadonlyMap<string, string>;
  directory: string;
  streams: Streams;
  parent?: Task | undefined;
  /** Not a process of its own, but a part of its parent's: no pid. */
  builtin?: boolean;
}

/** One process from within: what it was called with, what it reads and writes, and how it waits so that a signal can end it. */
export class Task {
  readonly machine: Machine;
  readonly pid: number;
  readonly parent: Task | undefined;
  readonly argv: readonly string[];
  readonly environment: ReadonlyMap<string, string>;
  readonly started: number;
  directory: string;
  streams: Streams;
  /** Asked first when a signal arrives; true where it is caught. */
  catchSignal: ((signal: SignalName) => boolean) | undefined;
  /** Runs on when its parent is killed. */
  background = false;
  readonly #children = new Set<Task>();
  readonly #waiting = new Set<(reason: Error) => void>();
  readonly #builtin: boolean;
  #killedBy: SignalName | undefined;

  constructor(options: TaskOptions) {
    const { machine, parent, builtin = false } = options;
    this.machine = machine;
    this.parent = parent;
    this.argv = options.argv;
    this.environment = options.environment;
    this.directory = options.directory;
    this.streams = options.streams;
    this.started = machine.clock.wall().getTime();
    this.#builtin = builtin;
    this.pid = builtin && parent ? parent.pid : machine.enter(this);
    if (parent) parent.#children.add(this);
  }

  /** The signal that ended it, or is about to. */
  get killedBy(): SignalName | undefined {
    return this.#killedBy;
  }

  /** Runs a program as this process, to its end. Never rejects. */
  async run(program: Program): Promise<number> {
    try {
      this.#check();
      return await program(this, this.argv.slice(1));
    } catch (error) {
      return this.#endOf(error);
    } finally {
      if (this.parent) this.parent.#children.delete(this);
      if (!this.#builtin) this.machine.leave(this);
    }
  }

  #endOf(error: unknown): number {
    if (error instanceof Killed) return 128 + SIGNAL_NUMBERS[error.signal];
    if (error instanceof Interrupted && this.#builtin) throw error;
    if (error instanceof Interrupted) return 130;
    if (error instanceof BrokenPipe) return 141;
    const name = (this.argv[0] ?? 'sh').replace(/^.*\//, '');
    const what = error instanceof FileError ? `${error.path}: ${error.message}` : String((error as Error).message);
    try {
      this.streams.stderr.put(Buffer.from(`${name}: ${what}\n`));
    } catch {
      // nobody reads it
    }
    return error instanceof UsageError ? error.code : 1;
  }

  /** Delivers a signal: what it waits for ends, unless the signal is caught. */
  kill(signal: SignalName): void {
    if (this.#killedBy) return;
    if (signal !== 'KILL' && this.catchSignal?.(signal)) return;
    this.#killedBy = signal;
    for (const child of this.#children) {
      if (!child.background) child.kill(signal);
    }
    this.#wake(new Killed(signal));
  }

  /** Passes a signal to what it runs in the foreground. */
  killChildren(signal: SignalName): void {
    for (const child of this.#children) {
      if (!child.background) child.kill(signal);
    }
  }

  /** Cuts short what it waits for, without ending it. */
  interrupt(): void {
    this.#wake(new Interrupted('interrupted'));
  }

  #wake(reason: Error): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const reject of waiting) reject(reason);
  }

  #check(): void {
    if (this.#killedBy) throw new Killed(this.#killedBy);
  }

  /** Waits, unless a signal ends that. */
  async until<T>(promise: Promise<T>): Promise<T> {
    this.#check();
    const { promise: cut, reject } = Promise.withResolvers<never>();
    this.#waiting.add(reject);
    try {
      return await Promise.race([promise, cut]);
    } finally {
      this.#waiting.delete(reject);
    }
  }

  /** Waits for so many milliseconds of the clock. */
  async sleep(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.machine.clock.setTimer(resolve, ms, { background: true });
    try {
      await this.until(promise);
    } finally {
      cancel();
    }
  }

  /** Takes note of a piece of work. One that never waits lets others have their turn, and is slowed down. */
  async step(): Promise<void> {
    this.#check();
    const pause = this.machine.countStep();
    if (pause === 'none') return;
    if (pause === 'turn') await nextTurn();
    else await this.sleep(this.machine.throttleMs);
    this.#check();
  }

  /** The next bytes of a source, undefined at its end. */
  async read(source: Source = this.streams.stdin): Promise<Uint8Array | undefined> {
    await this.step();
    for (let wait = source.ready(); wait; wait = source.ready()) await this.until(wait);
    return source.take();
  }

  async write(what: string | Uint8Array, sink: Sink = this.streams.stdout): Promise<void> {
    await this.step();
    for (let wait = sink.room(); wait; wait = sink.room()) await this.until(wait);
    sink.put(typeof what === 'string' ? Buffer.from(what) : what);
  }

  /** Says what went wrong: `NAME: message`. */
  async complain(message: string): Promise<void> {
    await this.write(`${(this.argv[0] ?? 'sh').replace(/^.*\//, '')}: ${message}\n`, this.streams.stderr);
  }

  /** The absolute path of what a user named. */
  path(name: string): string {
    if (name === '') throw new FileError("''", 'No such file or directory');
    return absolutePath(this.directory, name);
  }

  /** A process that this one starts. */
  spawn(
    argv: readonly string[],
    options: Partial<Pick<TaskOptions, 'streams' | 'environment' | 'directory' | 'builtin'>> = {},
  ): Task {
    const { machine, environment, directory, streams } = this;
    return new Task({ machine, environment, directory, streams, ...options, argv, parent: this });
  }
}

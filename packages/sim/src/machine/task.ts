import { setImmediate as nextTurn } from 'node:timers/promises';
import { BrokenPipe, type Sink, type Source } from './byte-stream.ts';
import { absolutePath, FileError, nameOf, NO_SUCH_FILE } from './file-system.ts';
import type { Machine } from './machine.ts';

export const SIGNAL_NUMBERS = { HUP: 1, INT: 2, QUIT: 3, KILL: 9, USR1: 10, USR2: 12, TERM: 15 } as const;
export type SignalName = keyof typeof SIGNAL_NUMBERS;

/** The signal that a name or number means, with or without `SIG`. */
export function signalNamed(name: string): SignalName | undefined {
  const plain = name.toUpperCase().replace(/^SIG/, '');
  const found = Object.entries(SIGNAL_NUMBERS).find(([each, number]) => each === plain || String(number) === plain);
  return found?.[0] as SignalName | undefined;
}

/** A signal ended the process. */
export class Killed extends Error {
  override readonly name = 'Killed';
  readonly signal: SignalName;

  constructor(signal: SignalName) {
    super(`killed by SIG${signal}`);
    this.signal = signal;
  }
}

/** A signal that the process catches ended what it waited for. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** A program cannot do what its arguments ask. It reports that and ends with the code. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly code: number;

  constructor(message: string, code = 1) {
    super(message);
    this.code = code;
  }
}

const MEMORY_LIMIT = 64 * 1024 * 1024;

/** Throws if a process holds more than it may, so that an endless input cannot end the simulation. */
export function checkMemory(bytes: number): void {
  if (bytes > MEMORY_LIMIT) throw new UsageError('out of memory');
}

/** Runs to the exit code. It may throw {@link UsageError} and `FileError`, which the task reports on standard error. */
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
  parent?: Task;
}

/** One process: its arguments and streams, its children, and its waits, which a signal ends. */
export class Task {
  readonly machine: Machine;
  readonly pid: number;
  readonly argv: readonly string[];
  readonly environment: ReadonlyMap<string, string>;
  readonly started: number;
  directory: string;
  streams: Streams;
  /** Called first when a signal arrives. Returns whether it catches the signal. */
  catchSignal: ((signal: SignalName) => boolean) | undefined;
  /** Runs on when a signal ends its parent. */
  background = false;
  readonly #parent: Task | undefined;
  readonly #children = new Set<Task>();
  readonly #waiting = new Set<(reason: Error) => void>();
  #killedBy: SignalName | undefined;

  constructor({ machine, parent, argv, environment, directory, streams }: TaskOptions) {
    this.machine = machine;
    this.argv = argv;
    this.environment = environment;
    this.directory = directory;
    this.streams = streams;
    this.started = machine.clock.wall().getTime();
    this.pid = machine.enter(this);
    this.#parent = parent;
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
      if (this.#parent) this.#parent.#children.delete(this);
      this.machine.leave(this);
    }
  }

  #endOf(error: unknown): number {
    if (error instanceof Killed) return 128 + SIGNAL_NUMBERS[error.signal];
    if (error instanceof Interrupted) return 130;
    if (error instanceof BrokenPipe) return 141;
    const what = error instanceof FileError ? `${error.path}: ${error.message}` : (error as Error).message;
    try {
      this.streams.stderr.put(this.#message(what));
    } catch {
      // nobody reads it
    }
    return error instanceof UsageError ? error.code : 1;
  }

  /** Delivers a signal to the process and its foreground children. Ends their waits unless they catch it. */
  kill(signal: SignalName): void {
    if (this.#killedBy) return;
    if (signal !== 'KILL' && this.catchSignal?.(signal)) return;
    this.#killedBy = signal;
    this.killChildren(signal);
    this.#wake(new Killed(signal));
  }

  killChildren(signal: SignalName): void {
    for (const child of this.#children) {
      if (!child.background) child.kill(signal);
    }
  }

  /** Ends what the process waits for with {@link Interrupted}; the process runs on. */
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

  /** Waits until the promise settles or a signal arrives. */
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

  async sleep(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.machine.clock.setTimer(resolve, ms, { background: true });
    try {
      await this.until(promise);
    } finally {
      cancel();
    }
  }

  /** Counts a piece of work. A process that never waits is slowed down, and lets others run. */
  async step(): Promise<void> {
    this.#check();
    const pause = this.machine.countStep();
    if (pause === 'none') return;
    if (pause === 'turn') await nextTurn();
    else await this.sleep(this.machine.throttleMs);
    this.#check();
  }

  /** The next bytes of a source; undefined at its end. */
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

  /** Writes everything that a source has to `sink`. */
  async copy(source: Source, sink: Sink = this.streams.stdout): Promise<void> {
    for (let chunk = await this.read(source); chunk; chunk = await this.read(source)) await this.write(chunk, sink);
  }

  /** Reports an error: `NAME: message`. */
  async complain(message: string): Promise<void> {
    await this.write(this.#message(message), this.streams.stderr);
  }

  #message(text: string): Buffer {
    return Buffer.from(`${nameOf(this.argv[0] ?? 'sh')}: ${text}\n`);
  }

  /** The absolute path of a name that a user gave. */
  path(name: string): string {
    if (name === '') throw new FileError("''", NO_SUCH_FILE);
    return absolutePath(this.directory, name);
  }

  /** Creates a child process, which inherits everything that `options` do not set. */
  spawn(argv: readonly string[], options: Partial<Pick<TaskOptions, 'streams' | 'environment'>> = {}): Task {
    const { machine, environment, directory, streams } = this;
    return new Task({ machine, environment, directory, streams, ...options, argv, parent: this });
  }
}

import { createHash } from 'node:crypto';
import type { Server } from 'node:http';
import type { Clock } from '@asterism/client';
import { emptySource, Pipe, type Sink } from './byte-stream.ts';
import { containerFiles } from './container-files.ts';
import { ContainerLog } from './container-log.ts';
import type { ContainerRef, ContainerUsage, Process, RunningContainer, RuntimeContainer } from './container-runtime.ts';
import { absolutePath } from './file-system.ts';
import { findProgram, type FoundProgram } from './find-program.ts';
import { Machine } from './machine.ts';
import { emptyOutput, ignoredInput, readableOf, writableTo } from './node-streams.ts';
import { namesProgram } from './names-program.ts';
import { PROGRAMS } from './programs/programs.ts';
import { pageServer } from './serve-port.ts';
import { type Streams, Task } from './task.ts';
import { Terminal } from './terminal.ts';

type Attached = { stdout: Pipe; stderr: Pipe };
const NOBODY: readonly Attached[] = [];

type End = { code: number; signal?: 'TERM' | 'KILL' };

const MEBIBYTE = 1024 * 1024;

/** One run of a container. Until somebody looks into it, and unless its command is a program, it has no files and no processes. */
export class Container implements RunningContainer {
  readonly id: string;
  readonly spec: RuntimeContainer;
  readonly started: number;
  readonly ref: ContainerRef;
  readonly #clock: Clock;
  readonly #exit = Promise.withResolvers<End>();
  #end: End | undefined;
  #machine: Machine | undefined;
  #log: ContainerLog | undefined;
  #main: Task | undefined;
  #input: Pipe | undefined;
  #terminal: Terminal | undefined;
  #server: Server | undefined;
  /** Who follows what it writes. */
  #attached: readonly Attached[] = NOBODY;

  constructor(clock: Clock, ref: ContainerRef, spec: RuntimeContainer, run: number) {
    this.#clock = clock;
    this.ref = ref;
    this.spec = spec;
    this.started = clock.wall().getTime();
    this.id = createHash('sha256').update(`${spec.podUid}/${ref.container}/${run}`).digest('hex');
    if (namesProgram(spec.command)) this.#startMain();
  }

  get exit(): Promise<End> {
    return this.#exit.promise;
  }

  get running(): boolean {
    return this.#end === undefined;
  }

  get log(): ContainerLog {
    this.#log ??= new ContainerLog(this.#clock);
    if (this.#end) this.#log.end();
    return this.#log;
  }

  /** Its web server; only a program of the image's own listens. */
  serverOf(port: number): Server | undefined {
    if (!this.running || this.#main || !this.spec.ports.includes(port)) return undefined;
    this.#server ??= pageServer(this.ref, this.spec.image);
    return this.#server;
  }

  signal(name: 'TERM' | 'KILL'): void {
    if (this.#end) return;
    if (this.#main) this.#main.kill(name);
    else this.#finish(name === 'KILL' ? { code: 137, signal: 'KILL' } : { code: 0 });
  }

  usage(): ContainerUsage {
    const hash = Number.parseInt(this.id.slice(0, 6), 16);
    const idle = !this.#main;
    const files = this.#machine?.fileBytes ?? 0;
    return {
      ref: this.ref,
      cpuNanoCores: this.#machine?.busy
        ? 1_000_000_000
        : idle
          ? 500_000 + (hash % 3_500_000)
          : 10_000 + (hash % 90_000),
      memoryBytes: (idle ? 6 + (hash % 26) : 1) * MEBIBYTE + (hash % 1000) * 1024 + files,
    };
  }

  /** Looks up a program as a runtime would; undefined for what is not in the container. */
  find(command: readonly string[]): FoundProgram {
    const machine = this.#machineOf();
    return findProgram({ machine, path: (name) => absolutePath(this.#directory(), name) }, command);
  }

  /** Starts a further process, which `find` has found. */
  exec(found: Exclude<FoundProgram, { code: number }>, options: { tty: boolean; stdin: boolean }): Process {
    const machine = this.#machineOf();
    const [stdout, stderr, input] = [new Pipe(), new Pipe(), new Pipe()];
    const terminal: Terminal | undefined = options.tty ? new Terminal(stdout, () => task.kill('INT')) : undefined;
    const stdin = terminal?.input ?? input;
    const streams: Streams = { stdin, stdout: terminal?.output ?? stdout, stderr: terminal?.output ?? stderr };
    const environment = new Map([...this.#environment(), ...(options.tty ? [['TERM', 'xterm'] as const] : [])]);
    const task: Task = new Task({ machine, argv: found.argv, environment, directory: this.#directory(), streams });
    if (!options.stdin) stdin.end();
    const exit = task.run(found.program).then((code) => {
      for (const each of [stdout, stderr]) each.end();
      stdin.close();
      return { code };
    });
    return {
      stdin: options.stdin ? writableTo(stdin, terminal) : ignoredInput(),
      stdout: readableOf(stdout),
      stderr: options.tty ? emptyOutput() : readableOf(stderr),
      exit,
      resize: (size) => {
        if (terminal) terminal.size = size;
      },
      kill: (signal) => task.kill(signal),
    };
  }

  /** What the main process writes from now on, and its input if it has one. */
  attach(options: { stdin: boolean; tty: boolean }): Process {
    const outputs = { stdout: new Pipe(), stderr: new Pipe() };
    const gone = Promise.withResolvers<void>();
    this.#attached = [...this.#attached, outputs];
    const leave = (): void => {
      this.#detach(outputs);
      outputs.stdout.end();
      outputs.stderr.end();
      gone.resolve();
    };
    const input = this.#terminal?.input ?? this.#input;
    const terminal = this.#terminal;
    void this.#exit.promise.then(leave);
    return {
      stdin: options.stdin && input ? writableTo(input, terminal) : ignoredInput(),
      stdout: readableOf(outputs.stdout),
      stderr: this.spec.tty ? emptyOutput() : readableOf(outputs.stderr),
      exit: gone.promise.then(() => ({ code: 0 })),
      resize: (size) => {
        if (terminal) terminal.size = size;
      },
      kill: leave,
    };
  }

  #startMain(): void {
    const machine = this.#machineOf(true);
    const found = this.find(this.spec.command);
    if ('code' in found) return this.#finish({ code: found.code });
    this.#input = this.spec.stdin ? new Pipe() : undefined;
    let streams: Streams = {
      stdin: this.#input ?? emptySource,
      stdout: this.#output('stdout'),
      stderr: this.#output('stderr'),
    };
    if (this.spec.tty) {
      const terminal = new Terminal(streams.stdout, () => this.#main?.kill('INT'));
      this.#terminal = terminal;
      if (!this.spec.stdin) terminal.hangUp();
      streams = { stdin: terminal.input, stdout: terminal.output, stderr: terminal.output };
    }
    const main = new Task({
      machine,
      argv: found.argv,
      environment: this.#environment(),
      directory: this.#directory(),
      streams,
    });
    this.#main = main;
    void main.run(found.program).then((code) => {
      const signal = main.killedBy;
      this.#finish(signal === 'TERM' || signal === 'KILL' ? { code, signal } : { code });
    });
  }

  #finish(end: End): void {
    if (this.#end) return;
    this.#end = end;
    this.#machine?.killAll('KILL');
    this.#machine = undefined;
    this.#server = undefined;
    this.#log?.end();
    this.#exit.resolve(end);
  }

  #detach(outputs: Attached): void {
    this.#attached = this.#attached.filter((each) => each !== outputs);
  }

  /** A stream of the main process: the log has it, and whoever is attached, who can hold it up. */
  #output(name: 'stdout' | 'stderr'): Sink {
    const log = this.log.sink(name === 'stdout' ? 'Stdout' : 'Stderr');
    return {
      room: () => this.#attached.map((each) => each[name].room()).find((wait) => wait !== undefined),
      put: (chunk) => {
        log.put(chunk);
        for (const each of this.#attached) {
          try {
            each[name].put(chunk);
          } catch {
            this.#detach(each);
          }
        }
      },
      end: () => undefined,
    };
  }

  #machineOf(main = false): Machine {
    this.#machine ??= new Machine({
      clock: this.#clock,
      hostname: this.spec.hostname,
      files: () => containerFiles(this.#clock, this.ref.namespace, this.spec, PROGRAMS.keys()),
      programs: PROGRAMS,
      idle: main
        ? undefined
        : {
            argv:
              this.spec.command.length > 0
                ? this.spec.command
                : [this.spec.image.replace(/^.*\//, '').replace(/[:@].*/s, '')],
            started: this.started,
            signal: (name) => this.signal(name === 'KILL' ? 'KILL' : 'TERM'),
          },
    });
    return this.#machine;
  }

  #directory(): string {
    return absolutePath('/', this.spec.workingDir);
  }

  #environment(): Map<string, string> {
    const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
    return new Map([
      ['PATH', path],
      ['HOSTNAME', this.spec.hostname],
      ['HOME', '/root'],
      ...Object.entries(this.spec.env),
    ]);
  }
}

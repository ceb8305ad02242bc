import { createHash } from 'node:crypto';
import type { Server } from 'node:http';
import type { Clock } from '@asterism/client';
import { emptySource, Pipe, type Sink } from './byte-stream.ts';
import { containerFiles } from './container-files.ts';
import { ContainerLog } from './container-log.ts';
import type { ContainerRef, ContainerUsage, Process, RunningContainer, RuntimeContainer } from './container-runtime.ts';
import { absolutePath, nameOf } from './file-system.ts';
import { findProgram, type FoundProgram } from './find-program.ts';
import { type ListedProcess, Machine } from './machine.ts';
import { createProcess } from './create-process.ts';
import { namesProgram } from './names-program.ts';
import { PROGRAMS } from './programs/programs.ts';
import { pageServer } from './serve-port.ts';
import { type Streams, Task } from './task.ts';
import { Terminal } from './terminal.ts';

type Attached = { stdout: Pipe; stderr: Pipe };
type FoundCommand = Exclude<FoundProgram, { code: number }>;
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
    const idle = this.#main ? 10_000 + (hash % 90_000) : 500_000 + (hash % 3_500_000);
    const base = (this.#main ? 1 : 6 + (hash % 26)) * MEBIBYTE + (hash % 1000) * 1024;
    return {
      ref: this.ref,
      cpuNanoCores: this.#machine?.busy ? 1_000_000_000 : idle,
      memoryBytes: base + (this.#machine?.fileBytes ?? 0),
    };
  }

  /** Finds a program as a runtime does. */
  find(command: readonly string[]): FoundProgram {
    return findProgram({ machine: this.#machineOf(), directory: this.#directory() }, command);
  }

  /** Starts one more process, which `find` has found. */
  exec(found: FoundCommand, { tty, stdin: open }: { tty: boolean; stdin: boolean }): Process {
    const outputs = { stdout: new Pipe(), stderr: new Pipe() };
    const terminal = tty ? new Terminal(outputs.stdout, () => task.kill('INT')) : undefined;
    const input = terminal?.input ?? new Pipe();
    if (!open) input.end();
    const task = this.#taskOf(found, terminal, { stdin: input, ...outputs }, tty ? [['TERM', 'xterm']] : []);
    const exit = task.run(found.program).then((code) => {
      endBoth(outputs);
      input.close();
      return { code };
    });
    const stdin = open ? input : undefined;
    return createProcess({ stdin, terminal, outputs, tty }, { exit, kill: (signal) => task.kill(signal) });
  }

  /** The output of the main process from now on, and its input if it has one. */
  attach(options: { stdin: boolean }): Process {
    const outputs = { stdout: new Pipe(), stderr: new Pipe() };
    const gone = Promise.withResolvers<{ code: number }>();
    this.#attached = [...this.#attached, outputs];
    const leave = (): void => {
      this.#detach(outputs);
      endBoth(outputs);
      gone.resolve({ code: 0 });
    };
    void this.#exit.promise.then(leave);
    const stdin = options.stdin ? (this.#terminal?.input ?? this.#input) : undefined;
    const ends = { stdin, terminal: this.#terminal, outputs, tty: this.spec.tty };
    return createProcess(ends, { exit: gone.promise, kill: leave });
  }

  #startMain(): void {
    this.#machineOf(true);
    const found = this.find(this.spec.command);
    if ('code' in found) return this.#finish({ code: found.code });
    const outputs = { stdout: this.#output('stdout'), stderr: this.#output('stderr') };
    this.#input = this.spec.stdin ? new Pipe() : undefined;
    this.#terminal = this.spec.tty ? new Terminal(outputs.stdout, () => this.#main?.kill('INT')) : undefined;
    if (!this.spec.stdin) this.#terminal?.hangUp();
    const main = this.#taskOf(found, this.#terminal, { stdin: this.#input ?? emptySource, ...outputs });
    this.#main = main;
    void main.run(found.program).then((code) => {
      const signal = main.killedBy;
      this.#finish(signal === 'TERM' || signal === 'KILL' ? { code, signal } : { code });
    });
  }

  #taskOf(
    { argv }: FoundCommand,
    terminal: Terminal | undefined,
    streams: Streams,
    more: [string, string][] = [],
  ): Task {
    const onTerminal = terminal && { stdin: terminal.input, stdout: terminal.output, stderr: terminal.output };
    const environment = new Map([...this.#environment(), ...more]);
    const [machine, directory] = [this.#machineOf(), this.#directory()];
    return new Task({ machine, argv, environment, directory, streams: onTerminal ?? streams });
  }

  #finish(end: End): void {
    if (this.#end) return;
    this.#end = end;
    this.#machine?.killAll();
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
      idle: main ? undefined : this.#idleProcess(),
    });
    return this.#machine;
  }

  /** Process 1 of an image whose entry point is not one of the programs. */
  #idleProcess(): ListedProcess {
    const { command, image } = this.spec;
    return {
      pid: 1,
      argv: command.length > 0 ? command : [nameOf(image).replace(/[:@].*/s, '')],
      started: this.started,
      kill: (signal) => this.signal(signal === 'KILL' ? 'KILL' : 'TERM'),
    };
  }

  #directory(): string {
    return absolutePath('/', this.spec.workingDir);
  }

  #environment(): Map<string, string> {
    return new Map([
      ['PATH', '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
      ['HOSTNAME', this.spec.hostname],
      ['HOME', '/root'],
      ...Object.entries(this.spec.env),
    ]);
  }
}

function endBoth({ stdout, stderr }: Attached): void {
  stdout.end();
  stderr.end();
}

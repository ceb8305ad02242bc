import type { Clock } from '@asterism/client';
import type { FileSystem } from './file-system.ts';
import type { Program, SignalName, Task } from './task.ts';

const TURN_EVERY = 100;
const THROTTLE_EVERY = 2000;
const BUSY_MS = 1500;
const MAX_TASKS = 1000;

export interface MachineOptions {
  clock: Clock;
  hostname: string;
  /** Called once, when a process first touches a file. */
  files: () => FileSystem;
  programs: ReadonlyMap<string, Program>;
  /** Process 1, where that is none of the programs: it stands in the list and takes signals. */
  idle?: IdleProcess | undefined;
}

/** A process of which nothing is known but its name. */
export interface IdleProcess {
  argv: readonly string[];
  started: number;
  signal(name: SignalName): void;
}

/** What the processes of one container share. */
export class Machine {
  readonly clock: Clock;
  readonly hostname: string;
  /** What can be run, by name. */
  readonly programs: ReadonlyMap<string, Program>;
  /** How long a process waits that never does so by itself, after a good deal of work. */
  readonly throttleMs = 5;
  readonly #makeFiles: () => FileSystem;
  #files: FileSystem | undefined;
  readonly #idle: IdleProcess | undefined;
  readonly #tasks = new Map<number, Task>();
  #lastPid: number;
  #steps = 0;
  #busySince = -Infinity;
  #busyAt = -Infinity;

  constructor(options: MachineOptions) {
    this.clock = options.clock;
    this.hostname = options.hostname;
    this.#makeFiles = options.files;
    this.programs = options.programs;
    this.#idle = options.idle;
    this.#lastPid = options.idle ? 1 : 0;
  }

  get files(): FileSystem {
    this.#files ??= this.#makeFiles();
    return this.#files;
  }

  /** Bytes in files. */
  get fileBytes(): number {
    return this.#files?.used ?? 0;
  }

  /** All its processes, oldest first. */
  processes(): readonly { pid: number; argv: readonly string[]; started: number }[] {
    return [...(this.#idle ? [{ pid: 1, ...this.#idle }] : []), ...this.#tasks.values()];
  }

  /** Sends a signal, or none, to a process: whether there is one. */
  signal(pid: number, name: SignalName | undefined): boolean {
    const process = this.#tasks.get(pid) ?? (pid === 1 && this.#idle ? { kill: this.#idle.signal } : undefined);
    if (process && name) process.kill(name);
    return process !== undefined;
  }

  /** Whether something in it worked without waiting until a moment ago. */
  get busy(): boolean {
    return this.clock.monotonic() - this.#busyAt < BUSY_MS;
  }

  enter(task: Task): number {
    if (this.#tasks.size >= MAX_TASKS) throw new Error("can't fork: Resource temporarily unavailable");
    this.#lastPid += 1;
    this.#tasks.set(this.#lastPid, task);
    return this.#lastPid;
  }

  leave(task: Task): void {
    this.#tasks.delete(task.pid);
  }

  killAll(signal: SignalName): void {
    for (const task of this.#tasks.values()) task.kill(signal);
  }

  /** What a process has to do after one more piece of work: nothing, let others have their turn, or wait a little. */
  countStep(): 'none' | 'turn' | 'throttle' {
    this.#steps += 1;
    if (this.#steps % TURN_EVERY !== 0) return 'none';
    const now = this.clock.monotonic();
    if (this.#steps % THROTTLE_EVERY !== 0) return 'turn';
    if (now - this.#busySince < BUSY_MS) this.#busyAt = now;
    this.#busySince = now;
    return 'throttle';
  }
}

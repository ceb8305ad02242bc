import type { Clock } from '@asterism/client';
import type { FileSystem } from './file-system.ts';
import type { Program, SignalName, Task } from './task.ts';

const TURN_EVERY = 100;
const THROTTLE_EVERY = 2000;
const BUSY_MS = 1500;
const MAX_TASKS = 1000;

/** A process, as `ps` and `kill` see it. */
export interface ListedProcess {
  readonly pid: number;
  readonly argv: readonly string[];
  readonly started: number;
  kill(signal: SignalName): void;
}

export interface MachineOptions {
  clock: Clock;
  hostname: string;
  /** Called once, when a process first uses a file. */
  files: () => FileSystem;
  programs: ReadonlyMap<string, Program>;
  /** Process 1, if that is not one of the programs. */
  idle?: ListedProcess | undefined;
}

/** The state that the processes of one container share. */
export class Machine {
  readonly clock: Clock;
  readonly hostname: string;
  /** The programs that can run, by name. */
  readonly programs: ReadonlyMap<string, Program>;
  /** How long a process waits that did a lot of work without waiting. */
  readonly throttleMs = 5;
  readonly #makeFiles: () => FileSystem;
  #files: FileSystem | undefined;
  readonly #processes = new Map<number, ListedProcess>();
  #lastPid = 0;
  #steps = 0;
  #busySince = -Infinity;
  #busyAt = -Infinity;

  constructor({ clock, hostname, files, programs, idle }: MachineOptions) {
    this.clock = clock;
    this.hostname = hostname;
    this.programs = programs;
    this.#makeFiles = files;
    if (idle) this.#processes.set((this.#lastPid = idle.pid), idle);
  }

  get files(): FileSystem {
    this.#files ??= this.#makeFiles();
    return this.#files;
  }

  /** Bytes in files. */
  get fileBytes(): number {
    return this.#files?.used ?? 0;
  }

  /** All processes by their id, oldest first. */
  get processes(): ReadonlyMap<number, ListedProcess> {
    return this.#processes;
  }

  /** Whether a process worked without waiting until a moment ago. */
  get busy(): boolean {
    return this.clock.monotonic() - this.#busyAt < BUSY_MS;
  }

  enter(task: Task): number {
    if (this.#processes.size >= MAX_TASKS) throw new Error("can't fork: Resource temporarily unavailable");
    this.#lastPid += 1;
    this.#processes.set(this.#lastPid, task);
    return this.#lastPid;
  }

  leave(task: Task): void {
    this.#processes.delete(task.pid);
  }

  killAll(): void {
    for (const process of this.#processes.values()) process.kill('KILL');
  }

  /** Counts a piece of work: whether the process runs on, lets others run, or waits. */
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

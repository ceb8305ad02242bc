import { spawn } from 'node:child_process';
import { EventEmitter, on, once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { ContainerRef, ExecOptions, LogOptions, NodeBackend, PodRef, Process } from '@asterism/sim';
import { badRequest } from '@asterism/machinery';

/** A node whose containers' commands are processes of this machine, each container in a folder of its own. */
export class ProcessBackend implements NodeBackend {
  /** Of this machine, by the pod's port. */
  readonly ports = new Map<number, number>();
  readonly #folder: string;
  readonly #lines: string[] = [];
  /** `ended` with a command's exit code, `resized` with a terminal's size, `left` when a reader of the log has gone. */
  readonly events = new EventEmitter().setMaxListeners(0);

  constructor(folder: string) {
    this.#folder = folder;
  }

  async exec({ pod, container }: ContainerRef, { command, stdin }: ExecOptions): Promise<Process> {
    const cwd = join(this.#folder, pod, container);
    await mkdir(cwd, { recursive: true });
    const [program = '', ...args] = command;
    const child = spawn(program, args, { cwd, stdio: 'pipe' });
    const exit = new Promise<{ code: number }>((resolve) => {
      child.once('exit', (code, signal) => resolve({ code: code ?? (signal === 'SIGKILL' ? 137 : 143) }));
    });
    void exit.then(({ code }) => this.events.emit('ended', code));
    await once(child, 'spawn');
    if (!stdin) child.stdin.end();
    return {
      stdin: child.stdin,
      stdout: child.stdout,
      stderr: child.stderr,
      resize: (size) => void this.events.emit('resized', size),
      exit,
      kill: (signal) => void child.kill(`SIG${signal}`),
    };
  }

  async attach(ref: ContainerRef, options: { stdin: boolean; tty: boolean }): Promise<Process> {
    return await this.exec(ref, { ...options, command: ['cat'] });
  }

  log(line: string): void {
    this.#lines.push(line);
    this.events.emit('line', line);
  }

  async *logs(_ref: ContainerRef, options: LogOptions, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    if (options.previous) throw badRequest('previous terminated container "app" in pod "web" not found');
    const news = options.follow ? on(this.events, 'line', { signal }) : undefined;
    yield Buffer.from(
      this.#lines
        .slice(-(options.tailLines ?? Infinity))
        .map((line) => `${line}\n`)
        .join(''),
    );
    if (news === undefined) return;
    try {
      for await (const [line] of news) yield Buffer.from(`${line}\n`);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.events.emit('left');
    }
  }

  async dial({ pod }: PodRef, port: number): Promise<Duplex> {
    const local = this.ports.get(port);
    if (local === undefined) throw badRequest(`dial ${pod}:${port}: connect: connection refused`);
    const socket = connect({ host: '127.0.0.1', port: local, allowHalfOpen: true });
    await once(socket, 'connect');
    return socket;
  }

  stats(): [] {
    return [];
  }
}

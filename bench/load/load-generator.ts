import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type {
  FromGenerator,
  Load,
  LoadCommand,
  LoadCommands,
  LoadResult,
  LoadTarget,
  ToGenerator,
  WatchAsk,
} from './load-message.ts';

const ENTRY = fileURLToPath(new URL('./load-process.ts', import.meta.url));

/** Sends load to one API server from a process of its own, so that what it costs is not billed to anybody measured. */
export class LoadGenerator implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #nextId = 0;

  /** `signal` ends it, and with it whatever is asked then. */
  constructor(signal: AbortSignal) {
    this.#child = fork(ENTRY, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#child.on('message', (message: FromGenerator) => {
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if ('failure' in message) waiting?.reject(new Error(message.failure));
      else waiting?.resolve(message.answer);
    });
    const kill = (): boolean => this.#child.kill('SIGKILL'); // It holds nothing but connections.
    signal.addEventListener('abort', kill);
    this.#child.on('exit', (code, killed) => {
      signal.removeEventListener('abort', kill);
      const error = new Error(`the load generator ended (${killed ?? code})`);
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    });
  }

  /** Opens `sessions` HTTP/2 connections. Rejects, as everything here, with what the server answered or why it did not. */
  async connect(target: LoadTarget, sessions = 4): Promise<void> {
    await this.#ask('connect', { target, sessions });
  }

  run(load: Load): Promise<LoadResult> {
    return this.#ask('run', load);
  }

  /** Resolves when all of them have heard of what is there. */
  async watch(ask: WatchAsk): Promise<void> {
    await this.#ask('watch', ask);
  }

  /** One change after the other; its latency is the time until the last of the watchers has it. */
  fanOut(load: Load): Promise<LoadResult> {
    return this.#ask('fanOut', load);
  }

  async unwatch(): Promise<void> {
    await this.#ask('unwatch', null);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  #ask<C extends LoadCommand>(command: C, ask: LoadCommands[C]['ask']): Promise<LoadCommands[C]['answer']> {
    const id = this.#nextId++;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(id, waiting);
    this.#child.send({ id, command, ask } as ToGenerator);
    return waiting.promise as Promise<LoadCommands[C]['answer']>;
  }
}

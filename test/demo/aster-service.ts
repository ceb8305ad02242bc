import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { ASTER } from './aster-up.ts';

/** One line of a service's log. */
export interface LogLine {
  level: number;
  msg: string;
  reason?: string;
}

/** One run of an `aster` command that stays until it is stopped. */
export class AsterService implements AsyncDisposable {
  readonly process: ChildProcess;
  stdout = '';
  stderr = '';

  constructor(args: readonly string[], options: SpawnOptions = {}) {
    this.process = spawn(process.execPath, [...ASTER, ...args], { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    this.process.stdout?.on('data', (text) => (this.stdout += String(text)));
    this.process.stderr?.on('data', (text) => (this.stderr += String(text)));
  }

  /** Waits for a line on stdout; rejects with what was printed where the service ends before. */
  async prints(line: RegExp): Promise<RegExpExecArray> {
    return await this.#seen(() => line.exec(this.stdout) ?? undefined);
  }

  /** Waits for a line of the log. */
  async logs(message: string): Promise<LogLine> {
    return await this.#seen(() => this.logLines().find(({ msg }) => msg === message));
  }

  /** What of stderr is JSON; a service that fails says why in a line of its own. */
  logLines(): LogLine[] {
    return this.stderr
      .split('\n')
      .slice(0, -1)
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as LogLine);
  }

  /** The exit code, once it has ended and all that it printed is here. */
  async exit(): Promise<number | null> {
    if (this.process.exitCode === null && this.process.signalCode === null) await once(this.process, 'close');
    return this.process.exitCode;
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.process.kill(signal);
    return await this.exit();
  }

  async #seen<T>(look: () => T | undefined): Promise<T> {
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (this.process.exitCode !== null || this.process.signalCode !== null) {
        throw new Error(`it ended (${this.process.exitCode}):\n${this.stdout}${this.stderr}`);
      }
      const sources = [this.process.stdout, this.process.stderr].filter((stream) => stream !== null);
      const waiting = new AbortController();
      const { signal } = waiting;
      await Promise.race([
        ...sources.map((stream) => once(stream, 'data', { signal })),
        once(this.process, 'close', { signal }),
      ]).finally(() => waiting.abort());
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('SIGKILL');
  }
}

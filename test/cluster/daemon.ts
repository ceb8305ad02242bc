import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, watch } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

export interface DaemonOptions {
  /** In messages. */
  name: string;
  /** Program and arguments, asked for at every start. No secret: anybody may read them. */
  command: readonly string[] | (() => readonly string[]);
  /** The file that stdout and stderr are appended to. */
  log: string;
  environment?: Readonly<Record<string, string>> | undefined;
  /** The command forks once and waits for the child, as `unshare --fork` and `nsenter --pid` do: signals go to that child. */
  forks?: boolean | undefined;
}

/**
 * A program that a test starts, kills, freezes and starts again.
 *
 * It never outlives the test process, however that ends (D1: the kernel kills it, by `PR_SET_PDEATHSIG`). What it prints on
 * stdout is also kept, to wait for a line (D2).
 */
export class Daemon implements AsyncDisposable {
  readonly name: string;
  readonly #options: DaemonOptions;
  #process: ChildProcess | undefined;
  #stdout = '';

  constructor(options: DaemonOptions) {
    this.name = options.name;
    this.#options = options;
  }

  get running(): boolean {
    return this.#process !== undefined && this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** What it printed on stdout since its last start. */
  get stdout(): string {
    return this.#stdout;
  }

  /** Starts it, again with what it was started with before. Resolves when it runs, which is long before it is ready. */
  async start(): Promise<void> {
    if (this.running) throw new Error(`${this.name} runs already`);
    const { command, log, environment } = this.#options;
    const file = openSync(log, 'a', 0o600);
    this.#stdout = '';
    try {
      const words = typeof command === 'function' ? command() : command;
      this.#process = spawn('setpriv', ['--pdeathsig', 'KILL', '--', ...words], {
        env: { ...process.env, ...environment },
        stdio: ['ignore', 'pipe', file],
      });
      await once(this.#process, 'spawn');
    } finally {
      closeSync(file);
    }
    this.#process.stdout?.setEncoding('utf8').on('data', (text: string) => (this.#stdout += text));
  }

  /** The process itself: where the command forks, its child. */
  async pid(): Promise<number> {
    const pid = this.#process?.pid ?? 0;
    if (this.#options.forks !== true) return pid;
    while (this.running) {
      const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
      // `setpriv` and `sh` turn into the command; only that forks.
      if (children.trim() !== '') return Number(children.trim().split(' ')[0]);
      await delay(5);
    }
    throw await this.ended();
  }

  /** Resolves with the match when stdout has it; rejects, with the end of the log, when the program ends before. */
  async printed(pattern: RegExp, signal?: AbortSignal): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.#stdout);
      if (match) return match;
      const child = this.#process;
      if (!child?.stdout || !this.running) throw await this.ended();
      if (signal?.aborted) throw await this.#report(`did not print ${pattern}`);
      await nextOutput(child, signal);
    }
  }

  /** Resolves when its log matches; rejects, with the end of the log, when the signal aborts before. */
  async logged(pattern: RegExp, signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    const watcher = watch(log);
    try {
      for (;;) {
        // Begun before the log is read, so that no line comes in between.
        const changed = once(watcher, 'change', { signal });
        changed.catch(() => {});
        if (pattern.test(await readFile(log, 'utf8'))) return;
        await changed;
      }
    } catch (error) {
      throw signal.aborted ? await this.#report(`did not log ${pattern}`) : error;
    } finally {
      watcher.close();
    }
  }

  /** Resolves when it is gone. */
  async exited(): Promise<void> {
    if (this.#process && this.running) await once(this.#process, 'exit');
  }

  async signal(name: NodeJS.Signals): Promise<void> {
    if (!this.running) return;
    try {
      process.kill(await this.pid(), name);
    } catch (error) {
      if (this.running) throw error;
    }
  }

  /** `kill -9`. Resolves when it is gone. */
  async kill(): Promise<void> {
    await this.signal('SIGKILL');
    await this.exited();
  }

  /** Asks it to end, as a service manager does; `kill -9` after `patienceMs`. */
  async stop(patienceMs = 10_000): Promise<void> {
    await this.signal('SIGTERM');
    await Promise.race([this.exited(), delay(patienceMs, undefined, { ref: false })]);
    await this.kill();
  }

  /** It stays where it is and answers nothing; its connections stay open. Resolves when none of its threads runs any more. */
  async freeze(): Promise<void> {
    await this.signal('SIGSTOP');
    const pid = await this.pid();
    while (this.running && !(await isStopped(pid))) await delay(1);
  }

  async thaw(): Promise<void> {
    await this.signal('SIGCONT');
  }

  /** Why it no longer runs, with the end of its log. */
  async ended(): Promise<Error> {
    const { exitCode = null, signalCode = null } = this.#process ?? {};
    const how = signalCode ?? (exitCode === null ? 'was not started' : `exit code ${exitCode}`);
    return await this.#report(`does not run (${how})`);
  }

  async #report(what: string): Promise<Error> {
    const log = await readFile(this.#options.log, 'utf8').catch(() => '');
    return new Error(`${this.name} ${what}; the end of ${this.#options.log}:\n${log.slice(-3000)}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

/** A signal is only on its way when `kill` returns: each thread stops when it comes to run next. */
async function isStopped(pid: number): Promise<boolean> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const stats = threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8').catch(() => ''));
  return (await Promise.all(stats)).every((stat) => stat === '' || /\) T /.test(stat));
}

/** Resolves when it prints something, when it ends, and when the signal aborts. */
async function nextOutput(child: ChildProcess, signal: AbortSignal | undefined): Promise<void> {
  const over = new AbortController();
  const waiting = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
  const events = [
    once(child.stdout ?? child, 'data', { signal: waiting }),
    once(child, 'exit', { signal: waiting }),
  ].map((event) => event.catch(() => {}));
  await Promise.race(events);
  over.abort();
}

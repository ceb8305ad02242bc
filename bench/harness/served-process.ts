import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { unlessAborted } from '@asterism/client';

/** Kept between runs, as a user's is: the first start of a version fills it. */
const COMPILE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/asterism-bench', import.meta.url));
const FLAGS = ['--disable-warning=ExperimentalWarning'];
const KILL_MS = 10_000;

export interface ProcessOptions {
  /** Node's. */
  flags?: readonly string[];
  environment?: Readonly<Record<string, string>>;
  args?: readonly string[];
  /** Told of what the first message says. */
  onFirst?: (answer: object) => void;
}

/**
 * A process that is measured: it answers one message at a time, after a first one that says that it is there. An answer with
 * `failure` rejects.
 */
export class ServedProcess<Ask extends object, Answer extends object> implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #signal: AbortSignal;
  readonly #exited: Promise<never>;

  private constructor(entry: URL, signal: AbortSignal, { flags = [], environment = {}, args = [] }: ProcessOptions) {
    this.#signal = signal;
    this.#child = fork(fileURLToPath(entry), args, {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: [...FLAGS, ...flags],
      env: { ...process.env, ...environment, BENCH_COMPILE_CACHE: COMPILE_CACHE },
    });
    this.#exited = once(this.#child, 'exit').then(([code]) => {
      throw new Error(`${entry.pathname} ended (${String(code)})`);
    });
    this.#exited.catch(() => {});
  }

  /** Resolves when the process listens. */
  static async start<Ask extends object, Answer extends object>(
    entry: URL,
    signal: AbortSignal,
    options: ProcessOptions = {},
  ): Promise<ServedProcess<Ask, Answer>> {
    const started = new ServedProcess<Ask, Answer>(entry, signal, options);
    try {
      const first = await started.#next();
      options.onFirst?.(first);
    } catch (error) {
      await started[Symbol.asyncDispose]();
      throw error;
    }
    return started;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async ask(message: Ask): Promise<Answer> {
    this.#child.send(message);
    return await this.#next();
  }

  /** By letting go of it, which is also what happens when this process is killed. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    if (this.#child.connected) this.#child.disconnect();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), KILL_MS);
    await this.#exited.catch(() => {});
    clearTimeout(timer);
  }

  async #next(): Promise<Answer> {
    const message = once(this.#child, 'message', { signal: this.#signal });
    const [answer] = (await unlessAborted(Promise.race([message, this.#exited]), this.#signal)) as [
      Answer | { failure: string },
    ];
    if ('failure' in answer) throw new Error(answer.failure);
    return answer;
  }
}

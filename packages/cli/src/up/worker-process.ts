import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Clock, sleep } from '@asterism/client';
import { type Backoff, backoff, COMPACT_HEAP_ENVIRONMENT, type Logger } from '@asterism/runtime';
import type { ToParent, ToWorker } from './worker-message.ts';

export interface WorkerOptions {
  /** What runs in it; the one argument that `ps` shows. */
  name: string;
  /** Module that calls `runWorker`. */
  entry: URL;
  logger: Logger;
  clock: Clock;
}

interface Unit<Config, Ready> {
  config: Config;
  ready: PromiseWithResolvers<Ready>;
  delay: Backoff;
}

/** How long a process may take to stop before it is killed. */
const STOP_MS = 10_000;

const newDelay = (): Backoff => backoff({ initialMs: 200, factor: 2, capMs: 10_000, jitter: 0.2, random: Math.random });

/**
 * A process of `aster up` that runs units of one kind: all members, or all agents. One for each would be truer to life and
 * would take 60 MB each.
 *
 * W1. It ends when its parent does, however that ends: the pipe between them closes.
 * W2. When it dies it is started again with all its units, sooner at first than later; a unit that fails is started again
 *     likewise, and others go on.
 * W3. A unit that fails before it ever was ready rejects with its own words.
 * W4. Configuration goes over the pipe, never in arguments or environment: it may hold a token.
 */
export class WorkerProcess<Config, Ready> {
  readonly #options: WorkerOptions;
  readonly #units = new Map<string, Unit<Config, Ready>>();
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #process: ChildProcess | undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Runs a unit from now on. Resolves when it works for the first time. */
  start(name: string, config: Config): Promise<Ready> {
    const unit = { config, ready: Promise.withResolvers<Ready>(), delay: newDelay() };
    this.#units.set(name, unit);
    this.#send(name, config);
    return unit.ready.promise;
  }

  /** Resolves when the process is gone: asked first, killed if it does not go. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const child = this.#process;
    if (child?.connected) child.disconnect();
    const cancel = this.#options.clock.setTimer(() => child?.kill('SIGKILL'), STOP_MS);
    await this.#running;
    cancel();
  }

  async #run(): Promise<void> {
    const { clock, logger, name } = this.#options;
    const delay = newDelay();
    while (!this.#stopping.signal.aborted) {
      const exit = await this.#runOnce();
      if (this.#stopping.signal.aborted) return;
      logger.warn({ process: name, exit }, 'process ended; starting it again');
      await sleep(clock, delay.next(), this.#stopping.signal).catch(() => {});
    }
  }

  #runOnce(): Promise<string> {
    const { entry, name } = this.#options;
    const child = fork(fileURLToPath(entry), [name], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...COMPACT_HEAP_ENVIRONMENT, ...process.env },
    });
    this.#process = child;
    child.on('message', (message: ToParent<Ready>) => this.#hear(message));
    for (const [unit, { config }] of this.#units) this.#send(unit, config);
    return new Promise((resolve) => {
      child.on('error', (error) => resolve(error.message));
      child.on('exit', (code, signal) => resolve(signal ?? String(code)));
    });
  }

  #hear(message: ToParent<Ready>): void {
    const unit = this.#units.get(message.unit);
    if (unit === undefined) return;
    if (message.type === 'ready') {
      unit.delay.reset();
      unit.ready.resolve(message.ready);
      return;
    }
    const { clock, logger, name } = this.#options;
    unit.ready.reject(new Error(message.message));
    logger.warn({ process: name, unit: message.unit, reason: message.message }, 'failed; starting it again');
    const again = (): void => this.#send(message.unit, unit.config);
    sleep(clock, unit.delay.next(), this.#stopping.signal).then(again, () => {});
  }

  #send(unit: string, config: Config): void {
    const message: ToWorker<Config> = { unit, config };
    // One that just died is told of by its exit, and gets all of it again.
    if (this.#process?.connected) this.#process.send(message, () => {});
  }
}

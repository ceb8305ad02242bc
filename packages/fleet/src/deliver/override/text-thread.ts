import { Worker } from 'node:worker_threads';
import type { TextEdit } from './edit-json-text.ts';
import type { Change } from './override-step.ts';
import type { TextTask } from './text-task.ts';

/** How long one text may take. A text of YAML of 1.5 MB takes about 8 s on a machine of today. */
const LIMIT_MS = 30_000;

/** The compiled file has another ending than the source. */
const ENTRY = new URL(
  import.meta.url.endsWith('.ts') ? './text-thread-entry.ts' : './text-thread-entry.js',
  import.meta.url,
);

/**
 * Works on large texts in a thread of its own, so that nothing else of the process waits for them.
 *
 * T1  One text at a time, in the order in which they were asked for.
 * T2  A text that takes longer than the limit is a fault. Its thread is ended, and the next text gets a new one.
 * T3  The thread starts with the first text and does not keep the process alive.
 */
export class TextThread {
  readonly #limitMs: number;
  #worker: Worker | undefined;
  /** Settles when the tasks that were asked for before are done. */
  #before: Promise<unknown> = Promise.resolve();

  constructor({ limitMs = LIMIT_MS }: { limitMs?: number } = {}) {
    this.#limitMs = limitMs;
  }

  /** Rejects only where the thread breaks down. */
  perform(task: TextTask): Promise<TextEdit | Change> {
    const outcome = this.#before.then(() => this.#run(task));
    this.#before = outcome.catch(() => undefined);
    return outcome;
  }

  /** Ends the thread; a task that is under way rejects. A later task starts another thread. */
  async stop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  async #run(task: TextTask): Promise<TextEdit | Change> {
    const worker = (this.#worker ??= this.#start());
    const limit = AbortSignal.timeout(this.#limitMs);
    const { promise, resolve, reject } = Promise.withResolvers<TextEdit | Change>();
    const fail = (error: Error): void => reject(error);
    const exit = (): void => reject(new Error('the thread that edits texts has ended'));
    const late = (): void => resolve({ fault: `takes longer than ${this.#limitMs / 1000} s to read or change` });
    worker.once('message', resolve).once('error', fail).once('exit', exit);
    limit.addEventListener('abort', late, { once: true });
    worker.ref();
    worker.postMessage(task);
    try {
      return await promise;
    } finally {
      limit.removeEventListener('abort', late);
      worker.off('message', resolve).off('error', fail).off('exit', exit);
      if (limit.aborted && worker === this.#worker) await this.stop();
      else worker.unref();
    }
  }

  #start(): Worker {
    const worker = new Worker(ENTRY, { name: 'asterism-texts', stdin: false });
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    worker.on('error', () => undefined); // The task that is under way rejects with it.
    return worker;
  }
}

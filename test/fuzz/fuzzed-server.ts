import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface ServerReport {
  /** Bytes, after its garbage was collected. */
  rss: number;
  heap: number;
  /** What the server logged as an error of its own since the last report. */
  complaints: string[];
}

/** A server that is fuzzed, in a process of its own. */
export class FuzzedServer implements AsyncDisposable {
  readonly url: URL;
  /** PEM. */
  readonly ca: string;
  readonly token: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, told: { url: string; ca: string; token: string }) {
    this.#child = child;
    this.url = new URL(told.url);
    this.ca = told.ca;
    this.token = told.token;
  }

  static async start(): Promise<FuzzedServer> {
    const child = fork(fileURLToPath(new URL('server-process.ts', import.meta.url)), {
      execArgv: ['--conditions=asterism-source', '--disable-warning=ExperimentalWarning', '--expose-gc'],
    });
    const [told] = (await once(child, 'message')) as [{ url: string; ca: string; token: string }];
    return new FuzzedServer(child, told);
  }

  /** Rejects where the process is gone. */
  async report(): Promise<ServerReport> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) throw new Error('the server process is gone');
    this.#child.send('report');
    const [report] = (await once(this.#child, 'message')) as [ServerReport];
    return report;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }
}

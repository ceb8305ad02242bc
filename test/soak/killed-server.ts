import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Client, type Connection, createClient, createTransport, type Transport } from '@asterism/client';

const PROGRAM = fileURLToPath(new URL('./storage-server-process.ts', import.meta.url));

/** An API server in a process of its own, to be killed. */
export class KilledServer implements AsyncDisposable {
  readonly client: Client;
  readonly pid: number;
  readonly #process: ChildProcess;
  readonly #transport: Transport;

  private constructor(process: ChildProcess, connection: Connection) {
    this.#process = process;
    this.pid = process.pid ?? 0;
    this.#transport = createTransport(connection);
    this.client = createClient({ transport: this.#transport });
  }

  /** @param wrapper the command, with its arguments, that runs the server's. */
  static async start(file: string, wrapper: readonly string[] = []): Promise<KilledServer> {
    const [command, ...args] = [...wrapper, process.execPath, ...process.execArgv.filter(isForServer), PROGRAM, file];
    const child = spawn(command, args, {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { ...process.env, NODE_TEST_CONTEXT: '' },
    });
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the server ended with ${String(code)} instead of starting`);
    });
    const [connection] = (await Promise.race([once(child, 'message'), ended])) as [Connection];
    ended.catch(() => {});
    return new KilledServer(child, connection);
  }

  /** `kill -9`; returns when the process has gone. */
  async kill(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      this.#process.kill('SIGKILL');
      await once(this.#process, 'exit');
    }
    await this.#transport.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

function isForServer(argument: string): boolean {
  return argument.startsWith('--conditions') || argument.startsWith('--disable-warning');
}

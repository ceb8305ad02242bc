import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Client, type Connection, createClient, createTransport, type HttpTransport } from '@asterism/client';
import { connectionOf } from '../cluster/connection-of.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** How `aster` is called where npm scripts are not: the same file with the same flags. */
export const ASTER = [
  '--conditions=asterism-source',
  '--disable-warning=ExperimentalWarning',
  join(root, 'packages/cli/bin/aster.js'),
];

/** One run of `aster up` on a data dir. */
export class AsterUp implements AsyncDisposable {
  readonly dataDir: string;
  readonly #process: ChildProcess;
  readonly #transports: HttpTransport[] = [];
  stdout = '';
  stderr = '';

  constructor(dataDir: string, flags: readonly string[], environment: Record<string, string> = {}) {
    this.dataDir = dataDir;
    const args = [...ASTER, 'up', '--data-dir', dataDir, '--listen', '127.0.0.1:0', ...flags];
    this.#process = spawn(process.execPath, args, {
      cwd: root,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#process.stdout?.on('data', (text) => (this.stdout += String(text)));
    this.#process.stderr?.on('data', (text) => (this.stderr += String(text)));
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** Resolves with the hub's address when everything is up; rejects with what was printed when it ends before. */
  async ready(): Promise<string> {
    for (;;) {
      const url = /^ready (https:\/\/\S+)$/m.exec(this.stdout)?.[1];
      if (url !== undefined) return url;
      if (this.#process.exitCode !== null || this.#process.signalCode !== null) {
        throw new Error(`aster up ended (${this.#process.exitCode}):\n${this.stdout}${this.stderr}`);
      }
      await Promise.race([once(this.#process.stdout ?? this.#process, 'data'), once(this.#process, 'exit')]);
    }
  }

  /** The exit code. */
  async exit(): Promise<number | null> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) await once(this.#process, 'exit');
    return this.#process.exitCode;
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.#process.kill(signal);
    return await this.exit();
  }

  /** A client of the hub as its administrator. */
  async hub(): Promise<Client> {
    return this.#client(await connectionOf(join(this.dataDir, 'kubeconfig')));
  }

  /** A client of a member, on its own port with its own administrator: the hub has no part in it. */
  async member(name: string): Promise<Client> {
    return this.#client(await this.memberConnection(name));
  }

  memberConnection(name: string): Promise<Connection> {
    return memberConnection(join(this.dataDir, 'members', name));
  }

  memberPort(name: string): Promise<number> {
    return memberPort(join(this.dataDir, 'members', name));
  }

  /** Every process of this run: `hub`, `members`, `agents`. */
  async processes(): Promise<Map<string, number>> {
    const found = new Map([['hub', this.pid]]);
    for (const entry of await readdir('/proc')) {
      if (!/^\d+$/.test(entry)) continue;
      const stat = await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => '');
      if (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) !== this.pid) continue;
      const words = (await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '')).split('\0');
      const title = words.findLast((word) => word !== '') ?? '';
      found.set(title, Number(entry));
    }
    return found;
  }

  #client(connection: Connection): Client {
    const transport = createTransport(connection);
    this.#transports.push(transport);
    return createClient({ transport, userAgent: 'test' });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#transports.map((transport) => transport.close()));
    await this.stop();
  }
}

/** A simulated member's own address and administrator, from the folder that it keeps its data in. */
export async function memberConnection(dataDir: string): Promise<Connection> {
  const read = (file: string): Promise<string> => readFile(join(dataDir, file), 'utf8');
  return {
    server: `https://127.0.0.1:${await memberPort(dataDir)}`,
    caData: await read('pki/ca.crt'),
    credential: { kind: 'certificate', cert: await read('pki/admin.crt'), key: await read('pki/admin.key') },
  };
}

async function memberPort(dataDir: string): Promise<number> {
  return Number((await readFile(join(dataDir, 'port'), 'utf8')).trim());
}

/** A data dir that is gone after the test. */
export async function temporaryDataDir(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'asterism-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

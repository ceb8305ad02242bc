import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../test/cluster/free-port.ts';
import { SOURCE_FLAGS } from '../runtime/source-flags.ts';
import { ServedProcess } from '../harness/served-process.ts';

/** Connections that the baseline's agent keeps dialled: for 51 streams at once, and a few. */
const DIALLED = 60;
const SSHD = '/usr/sbin/sshd';

/** Starts the processes of this bench; they end with `parts`. */
export class Ways {
  readonly #parts: AsyncDisposableStack;
  readonly #signal: AbortSignal;

  constructor(parts: AsyncDisposableStack, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
  }

  async target(): Promise<number> {
    return (await this.#start<{ port: number }>('target-process.ts')).port;
  }

  /** A client's port, by way of our tunnel; with a delay of the line between hub and agent, one way, ms. */
  async tunnel(target: number, delayMs = 0): Promise<number> {
    const { front, agents } = await this.#start<{ front: number; agents: number }>('tunnel-hub-process.ts');
    await this.#start('tunnel-agent-process.ts', await this.#line(agents, delayMs), target);
    return front;
  }

  /** The same by way of connections that are joined byte for byte. */
  async splice(target: number, delayMs = 0): Promise<number> {
    const { front, agents } = await this.#start<{ front: number; agents: number }>('splice-hub-process.ts');
    await this.#start('splice-agent-process.ts', await this.#line(agents, delayMs), target, DIALLED);
    return front;
  }

  /** The same by `ssh -R`; undefined where there is no sshd. */
  async ssh(target: number): Promise<number | undefined> {
    if (!existsSync(SSHD)) return undefined;
    const folder = await mkdtemp(join(tmpdir(), 'asterism-bench-ssh-'));
    this.#parts.defer(() => rm(folder, { recursive: true, force: true }));
    for (const name of ['host', 'user']) {
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, name)]);
    }
    const [server, front] = [await freePort(), await freePort()];
    const config = [
      `Port ${server}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${join(folder, 'host')}`,
      `AuthorizedKeysFile ${join(folder, 'user.pub')}`,
      'StrictModes no',
      'UsePAM no',
      'PermitRootLogin yes',
      `PidFile ${join(folder, 'pid')}`,
    ];
    await writeFile(join(folder, 'config'), `${config.join('\n')}\n`);
    execFileSync('mkdir', ['-p', '/run/sshd']);
    this.#spawn(SSHD, ['-D', '-f', join(folder, 'config')]);
    await answers(server, this.#signal);
    const options = [
      'StrictHostKeyChecking=no',
      'UserKnownHostsFile=/dev/null',
      'ExitOnForwardFailure=yes',
      'LogLevel=ERROR',
    ];
    const forward = `127.0.0.1:${front}:127.0.0.1:${target}`;
    const login = ['-i', join(folder, 'user'), '-p', `${server}`, '127.0.0.1'];
    this.#spawn('ssh', [...options.flatMap((option) => ['-o', option]), '-N', '-R', forward, ...login]);
    await answers(front, this.#signal);
    return front;
  }

  async #line(port: number, delayMs: number): Promise<number> {
    return delayMs === 0 ? port : (await this.#start<{ port: number }>('delay-process.ts', port, delayMs)).port;
  }

  async #start<First extends object>(file: string, ...args: number[]): Promise<First> {
    let first: First | undefined;
    const started = await ServedProcess.start<object, First>(new URL(file, import.meta.url), this.#signal, {
      flags: SOURCE_FLAGS,
      args: args.map(String),
      onFirst: (answer) => (first = answer as First),
    });
    this.#parts.use(started);
    return first as First;
  }

  #spawn(command: string, args: readonly string[]): void {
    const child = spawn(command, args, { stdio: 'ignore' });
    this.#parts.defer(() => void child.kill('SIGKILL'));
  }
}

/** Resolves when somebody takes connections there. */
async function answers(port: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    const taken = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true));
      socket.once('error', () => resolve(false)).once('connect', () => socket.destroy());
    });
    if (taken) return;
    await delay(50, undefined, { signal });
  }
}

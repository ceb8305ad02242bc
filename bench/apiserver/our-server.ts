import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RunFolder } from '../../test/cluster/run-folder.ts';
import type { LoadTarget } from '../load/load-message.ts';
import type { OurServerConfig, OurServerReady } from './our-server-process.ts';
import { type ServerUnderTest, startCost } from './server-under-test.ts';
import { untilReady } from './until-ready.ts';

const ENTRY = fileURLToPath(new URL('./our-server-process.ts', import.meta.url));

/** Starts `@asterism/apiserver` as a process of its own: TLS, tokens, RBAC, controllers, SQLite in a temporary folder. */
export async function startOurServer(
  synchronous: 'NORMAL' | 'FULL',
  { signal, execArgv = [] }: { signal: AbortSignal; execArgv?: string[] },
): Promise<ServerUnderTest> {
  const folder = await RunFolder.open();
  const started = performance.now();
  const child = fork(ENTRY, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: [...process.execArgv, ...execArgv],
  });
  const stop = async (): Promise<void> => {
    await ended(child);
    await folder[Symbol.asyncDispose]();
  };
  try {
    const config: OurServerConfig = {
      file: join(folder.path, 'bench.db'),
      synchronous,
      adminToken: randomUUID(),
      userToken: randomUUID(),
    };
    child.send(config);
    const { url, ca } = await readyMessage(child);
    const admin: LoadTarget = { url, ca, token: config.adminToken };
    await untilReady(admin, signal);
    const pid = child.pid ?? 0;
    return {
      name: `ours, synchronous=${synchronous}`,
      admin,
      user: { ...admin, token: config.userToken },
      pids: [pid],
      start: startCost([pid], started),
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function readyMessage(child: ChildProcess): Promise<OurServerReady> {
  const exited = once(child, 'exit').then(([code]) => {
    throw new Error(`our API server ended (${String(code)}) before it was ready`);
  });
  const [ready] = (await Promise.race([once(child, 'message'), exited])) as [OurServerReady];
  exited.catch(() => {});
  return ready;
}

/** Asks it to end by letting go of it, which is also what happens when this process is killed. */
async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  if (child.connected) child.disconnect();
  const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await exited;
  clearTimeout(timer);
}

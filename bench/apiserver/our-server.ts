import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createCertificateAuthority, issueCertificate } from '@asterism/apiserver';
import { RunFolder } from '../../test/cluster/run-folder.ts';
import type { LoadTarget } from '../load/load-message.ts';
import { ADMIN, type ServerUnderTest, startCost, USER } from './server-under-test.ts';
import { untilReady } from './until-ready.ts';

const ENTRY = fileURLToPath(new URL('./our-server-process.js', import.meta.url));
/** Kept between runs, as a user's is: the first start of a version fills it. */
const COMPILE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/asterism-bench', import.meta.url));
const QUIET = '--disable-warning=ExperimentalWarning';
/** MB. Half of V8's default: with many watches that saves 80 MB, and no figure moves by it. */
const YOUNG = '--max-semi-space-size=8';

/** `compiled`: the packages' `dist`, as npm brings them. `source`: TypeScript, as in this repository. */
export type Form = 'compiled' | 'source';

const FLAGS: Record<Form, string[]> = {
  compiled: [QUIET, YOUNG],
  source: ['--conditions=asterism-source', QUIET, YOUNG],
};

export interface OurServerConfig {
  file: string;
  synchronous: 'NORMAL' | 'FULL';
  adminToken: string;
  userToken: string;
  admin: typeof ADMIN;
  user: typeof USER;
  /** PEM, as `tls`. */
  ca: { cert: string; key: string };
  tls: { cert: string; key: string };
  /** A folder. */
  compileCache: string;
}

/** A data folder with certificates: what an installation keeps between starts. */
export class OurInstallation implements AsyncDisposable {
  readonly #folder: RunFolder;
  readonly #config: Omit<OurServerConfig, 'synchronous'>;

  private constructor(folder: RunFolder, config: Omit<OurServerConfig, 'synchronous'>) {
    this.#folder = folder;
    this.#config = config;
  }

  static async create(): Promise<OurInstallation> {
    const folder = await RunFolder.open();
    const ca = await createCertificateAuthority({ commonName: 'bench-ca' });
    const tls = await issueCertificate(ca, {
      commonName: 'kube-apiserver',
      dnsNames: ['localhost'],
      ipAddresses: ['127.0.0.1'],
      usages: ['server'],
      days: 1,
    });
    return new OurInstallation(folder, {
      file: join(folder.path, 'bench.db'),
      adminToken: randomUUID(),
      userToken: randomUUID(),
      admin: ADMIN,
      user: USER,
      ca,
      tls,
      compileCache: COMPILE_CACHE,
    });
  }

  /** Starts the server as a process of its own: TLS, tokens, RBAC, controllers, SQLite. The installation stays when it ends. */
  async start(
    synchronous: 'NORMAL' | 'FULL',
    { signal, form = 'compiled', execArgv = [] }: { signal: AbortSignal; form?: Form; execArgv?: string[] },
  ): Promise<ServerUnderTest> {
    const config = this.#config;
    const started = performance.now();
    const child = fork(ENTRY, {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: [...FLAGS[form], ...execArgv],
    });
    try {
      child.send({ ...config, synchronous } satisfies OurServerConfig);
      const { url } = await readyMessage(child);
      const admin: LoadTarget = { url, ca: config.ca.cert, token: config.adminToken };
      await untilReady(admin, signal);
      const pid = child.pid ?? 0;
      return {
        name: `ours, synchronous=${synchronous}`,
        admin,
        user: { ...admin, token: config.userToken },
        pids: [pid],
        start: startCost([pid], started),
        [Symbol.asyncDispose]: () => ended(child),
      };
    } catch (error) {
      await ended(child);
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder[Symbol.asyncDispose]();
  }
}

/** A server on an installation of its own, which goes with it. */
export async function startOurServer(
  synchronous: 'NORMAL' | 'FULL',
  options: { signal: AbortSignal; form?: Form; execArgv?: string[] },
): Promise<ServerUnderTest> {
  const installation = await OurInstallation.create();
  try {
    const server = await installation.start(synchronous, options);
    const stop = async (): Promise<void> => {
      await server[Symbol.asyncDispose]();
      await installation[Symbol.asyncDispose]();
    };
    return { ...server, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await installation[Symbol.asyncDispose]();
    throw error;
  }
}

async function readyMessage(child: ChildProcess): Promise<{ url: string }> {
  const exited = once(child, 'exit').then(([code]) => {
    throw new Error(`our API server ended (${String(code)}) before it was ready`);
  });
  const [ready] = (await Promise.race([once(child, 'message'), exited])) as [{ url: string }];
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

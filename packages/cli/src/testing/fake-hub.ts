import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AUTHORITY, type FakeHandler, startFakeServer } from '@asterism/client/testing';
import { createTerminal, type Terminal } from '../output/terminal.ts';

export interface FakeHub extends AsyncDisposable {
  readonly url: string;
  /** A file that leads to it, as a user with a token. */
  readonly kubeconfig: string;
}

export const USER_TOKEN = 'user-token';

/** A hub over real sockets that answers what a test tells it, also what no hub should. */
export async function startFakeHub(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<FakeHub> {
  const server = await startFakeServer(answer as FakeHandler, { protocol: 'http1' });
  const { url } = server;
  const folder = await mkdtemp(join(tmpdir(), 'asterism-fake-hub-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const cluster = { server: url, 'certificate-authority-data': Buffer.from(AUTHORITY).toString('base64') };
  await writeFile(
    kubeconfig,
    JSON.stringify({
      'current-context': 'fake',
      contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'fake' } }],
      clusters: [{ name: 'fake', cluster }],
      users: [{ name: 'fake', user: { token: USER_TOKEN } }],
    }),
  );
  return {
    url,
    kubeconfig,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}

/** A terminal without colours that remembers what is written to it. */
export function fakeTerminal(): Terminal & { stdout: string; stderr: string } {
  const written = { stdout: '', stderr: '' };
  const terminal = createTerminal({
    out: (text) => void (written.stdout += text),
    err: (text) => void (written.stderr += text),
    interactive: false,
    coloured: false,
    width: () => 100,
  });
  return Object.defineProperties(terminal as ReturnType<typeof fakeTerminal>, {
    stdout: { get: () => written.stdout, enumerable: true },
    stderr: { get: () => written.stderr, enumerable: true },
  });
}

import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTerminal, type Terminal } from '../output/terminal.ts';
import { AUTHORITY, SERVER_CERT, SERVER_KEY } from './hub-certificates.ts';

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
  const server = createServer({ cert: SERVER_CERT, key: SERVER_KEY }, answer);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
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
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true });
    },
  };
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
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

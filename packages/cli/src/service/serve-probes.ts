import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { CommandError } from '../exit-code.ts';

const { createServer } = process.getBuiltinModule('node:http');

export interface ProbeServer extends AsyncDisposable {
  readonly port: number;
}

/**
 * Answers a kubelet's probes: `/healthz` is 200 while this process runs, `/readyz` is 200 once `whyNotReady` gives nothing and else
 * 503 with what it gives. Plain HTTP, to whoever asks, and nothing else is told. Rejects where the address is taken.
 */
export async function serveProbes(
  { host, port }: { host: string; port: number },
  whyNotReady: () => string | undefined,
): Promise<ProbeServer> {
  const server = createServer((request, response) => {
    request.resume();
    const why = request.url === '/healthz' ? undefined : request.url === '/readyz' ? whyNotReady() : 'not found';
    const status = why === undefined ? 200 : why === 'not found' ? 404 : 503;
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${why ?? 'ok'}\n`);
  });
  server.listen(port, host);
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    throw new CommandError(`--probe-listen: cannot listen on ${host}:${port} (${cause.code ?? cause.message})`, 1, {
      cause,
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

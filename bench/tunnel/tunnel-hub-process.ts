// A process behind way.ts: the hub's end of our tunnel, behind an HTTPS server that passes every call into it.
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { SERVER_CERT, SERVER_KEY } from '../../packages/client/src/testing/certificates.ts';
import { answerTunnelUpgrade, createTunnelHub, parseOffer } from '../../packages/tunnel/src/index.ts';
import { keepHeapCompact } from '../../packages/runtime/src/index.ts';

keepHeapCompact(new AbortController().signal); // As `aster hub` does.
process.on('SIGINT', () => {}); // The parent decides.
process.on('disconnect', () => process.exit(0));

const TLS = { cert: SERVER_CERT, key: SERVER_KEY, minVersion: 'TLSv1.3' } as const;
const AGENT = 'bench';
const hub = createTunnelHub();
const transport = hub.transport(AGENT);

// A connection that is closed just when the next call is sent on it would fail the bench.
const front = createServer({ ...TLS, keepAliveTimeout: 0 }, (request, response) => {
  const { method = '', url: path = '', headers } = request;
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  transport.request({ method, path, headers: {}, ...(hasBody ? { body: request } : {}) }).then(
    (answer) => {
      response.writeHead(answer.status, answer.headers);
      if (answer.bytes) return void response.end(answer.bytes);
      answer.body.on('error', () => response.destroy()).pipe(response);
      response.on('close', () => answer.body.destroy());
    },
    () => response.writeHead(502).end(),
  );
});
const agents = createServer({ ...TLS }).on('upgrade', (request, socket, head) => {
  const offer = parseOffer(request.headers);
  hub.accept(AGENT, answerTunnelUpgrade(socket, request.headers, head), offer);
});

const listening = (server: Server): Promise<number> =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
process.send?.({ front: await listening(front), agents: await listening(agents) });

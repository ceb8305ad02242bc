// The process behind watches.ts: a server of nothing but watches, over HTTP/2 and HTTP/1.1 with TLS, that sends what it is told to.
import { createSecureServer, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { SERVER_CERT, SERVER_KEY } from '../../packages/client/src/testing/certificates.ts';
import type { ServerAnswer, ToServer } from './watches.ts';

process.on('SIGINT', () => {}); // The parent decides.
process.on('disconnect', () => process.exit(0));

const watches = new Set<Http2ServerResponse>();
let version = 1000;

/** An event of 1 KB. */
function eventOf(type: string, metadata: object, data: object = {}): string {
  return `${JSON.stringify({ type, object: { apiVersion: 'bench.example/v1', kind: 'Thing', metadata, data } })}\n`;
}

const server = createSecureServer({ cert: SERVER_CERT, key: SERVER_KEY, allowHTTP1: true }, (request, response) => {
  if (!request.url.includes('watch=')) return response.writeHead(404).end();
  response.writeHead(200, { 'content-type': 'application/json' });
  watches.add(response);
  response.on('close', () => watches.delete(response));
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  const initial = request.url.includes('sendInitialEvents');
  const metadata = { resourceVersion: String(version), ...(initial ? { annotations } : {}) };
  response.write(eventOf('BOOKMARK', metadata));
});

async function send(events: number): Promise<void> {
  for (let event = 0; event < events; event++) {
    version++;
    const metadata = { name: 'thing', namespace: 'bench', uid: 'a'.repeat(36), resourceVersion: String(version) };
    const text = eventOf('MODIFIED', metadata, { count: `${version}`, text: 'x'.repeat(780) });
    for (const watch of watches) watch.write(text);
    await new Promise(setImmediate);
  }
}

process.on('message', ({ send: events }: ToServer) => {
  send(events).then(
    () => process.send?.({ url: '', watches: watches.size } satisfies ServerAnswer),
    (error: Error) => process.send?.({ failure: error.message }),
  );
});
server.listen(0, '127.0.0.1', () => {
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.send?.({ url, watches: 0 } satisfies ServerAnswer);
  process.on('message', () => {});
});

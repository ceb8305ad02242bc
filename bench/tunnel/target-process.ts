// A process behind way.ts: the API server at the end of every way, for what can be measured of it.
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { SERVER_CERT, SERVER_KEY } from '../../packages/client/src/testing/certificates.ts';

process.on('SIGINT', () => {}); // The parent decides.
process.on('disconnect', () => process.exit(0));

const CHUNK = Buffer.alloc(64 * 1024, 'x');
const SMALL = Buffer.alloc(1024, 'y');

const TLS = { cert: SERVER_CERT, key: SERVER_KEY, minVersion: 'TLSv1.3' } as const;
// A connection that is closed just when the next call is sent on it would fail the bench.
const server = createServer({ ...TLS, keepAliveTimeout: 0 }, (request, response) => {
  const bytes = Number(new URL(request.url ?? '', 'https://target').searchParams.get('bytes') ?? 0);
  if (request.method === 'POST') {
    request.resume().on('end', () => response.end(SMALL));
    return;
  }
  if (bytes === 0) {
    response.end(SMALL);
    return;
  }
  let left = bytes;
  const more = (): void => {
    while (left > 0 && !response.destroyed) {
      const part = left >= CHUNK.length ? CHUNK : CHUNK.subarray(0, left);
      left -= part.length;
      if (!response.write(part)) return;
    }
    response.end();
  };
  response.on('drain', more);
  more();
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));

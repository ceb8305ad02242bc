// A process behind fleet.ts: a bare TLS server (no argument), or as many connections to one (arguments: port, count).
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { AUTHORITY, SERVER_CERT, SERVER_KEY } from '../../packages/client/src/testing/certificates.ts';

process.on('SIGINT', () => {}); // The parent decides.
process.on('disconnect', () => process.exit(0));

const AT_ONCE = 50;
const held: TLSSocket[] = [];
const [port, count = 0] = process.argv.slice(2).map(Number);

if (port === undefined) {
  const server = createServer({ cert: SERVER_CERT, key: SERVER_KEY, minVersion: 'TLSv1.3' }, (socket) => {
    held.push(socket.on('error', () => {}));
    socket.resume();
  });
  process.on('message', () => {
    global.gc?.();
    process.send?.({});
  });
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
} else {
  let left = count;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (left-- > 0) {
        const socket = connect({ port, host: '127.0.0.1', ca: AUTHORITY, minVersion: 'TLSv1.3' });
        await once(socket, 'secureConnect');
        // A byte each way, as every connection of an agent has had more.
        socket.write('x');
        held.push(socket.on('error', () => {}));
      }
    }),
  );
  process.send?.({});
}

// A process behind fleet.ts: a bare TLS server (no argument), or the connections of one (argument: its port).
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { AUTHORITY, SERVER_CERT, SERVER_KEY } from '../../packages/client/src/testing/certificates.ts';
import { compactHeap } from '../../packages/runtime/src/memory/keep-heap-compact.ts';
import type { SocketUse } from './fleet.ts';

process.on('SIGINT', () => {}); // The parent decides.
process.on('disconnect', () => process.exit(0));

const AT_ONCE = 50;
/** What is sent at a time: a TLS record. */
const RECORD = Buffer.alloc(16 * 1024);
/** How a connection begins: the sizes of the pieces that it brings, and of the answer to each. */
const HEAD_BYTES = 8;
const held: TLSSocket[] = [];
const port = process.argv[2];

if (port === undefined) {
  const server = createServer({ cert: SERVER_CERT, key: SERVER_KEY, minVersion: 'TLSv1.3' }, answer);
  process.on('message', () => {
    compactHeap();
    process.send?.({});
  });
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
} else {
  process.on('message', ({ uses }: { uses: SocketUse[] }) => {
    const left = [...uses];
    const row = async (): Promise<void> => {
      for (let use = left.pop(); use; use = left.pop()) await carry(Number(port), use);
    };
    Promise.all(Array.from({ length: AT_ONCE }, row)).then(
      () => process.send?.({}),
      (error: Error) => process.send?.({ failure: error.message }),
    );
  });
  process.send?.({});
}

function answer(socket: TLSSocket): void {
  held.push(socket.on('error', () => {}));
  let sizes: { piece: number; answer: number } | undefined;
  let received = 0;
  socket.on('data', (bytes: Buffer) => {
    received += bytes.length;
    if (!sizes) {
      sizes = { piece: bytes.readUInt32BE(0), answer: bytes.readUInt32BE(4) };
      received -= HEAD_BYTES;
    }
    for (; received >= sizes.piece; received -= sizes.piece) socket.write(RECORD.subarray(0, sizes.answer));
  });
}

/** Opens a connection, and has it carry as much as one of the hub's, record by record. It stays open. */
async function carry(to: number, { received, sent }: SocketUse): Promise<void> {
  const socket = connect({ port: to, host: '127.0.0.1', ca: AUTHORITY, minVersion: 'TLSv1.3' });
  await once(socket, 'secureConnect');
  held.push(socket.on('error', () => {}));
  const rounds = Math.max(1, Math.ceil(Math.max(received, sent) / RECORD.length));
  const piece = Math.max(1, Math.floor(received / rounds));
  const answered = Math.max(1, Math.floor(sent / rounds));
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(piece, 0);
  head.writeUInt32BE(answered, 4);
  socket.write(head);
  for (let round = 0; round < rounds; round++) {
    socket.write(RECORD.subarray(0, piece));
    for (let left = answered; left > 0; ) left -= ((await once(socket, 'data')) as [Buffer])[0].length;
  }
}

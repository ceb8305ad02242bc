import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import type { FuzzedServer } from './fuzzed-server.ts';

/** A bare TLS connection that speaks HTTP/1.1. */
export async function openConnection(server: FuzzedServer, allowHalfOpen = false): Promise<TLSSocket> {
  const { hostname: host, port } = server.url;
  const socket = connect({
    host,
    port: Number(port),
    ca: server.ca,
    ALPNProtocols: ['http/1.1'],
    allowHalfOpen,
  } as never);
  await once(socket, 'secureConnect');
  socket.on('error', () => {});
  return socket;
}

/** Opens `count` connections, `together` at a time. */
export async function openConnections(server: FuzzedServer, count: number, together = 50): Promise<TLSSocket[]> {
  const sockets: TLSSocket[] = [];
  while (sockets.length < count) {
    const batch = Array.from({ length: Math.min(together, count - sockets.length) }, () => openConnection(server));
    sockets.push(...(await Promise.all(batch)));
  }
  return sockets;
}

/** Closes them, and resolves when all are. */
export async function closeConnections(sockets: readonly TLSSocket[]): Promise<void> {
  await Promise.all(
    sockets.map(async (socket) => {
      if (socket.destroyed) return;
      const closed = once(socket, 'close');
      socket.destroy();
      await closed;
    }),
  );
}

/** Everything that comes until the server ends the connection, in whatever way. */
export async function readToEnd(socket: TLSSocket): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk)));
  if (!socket.readableEnded && !socket.destroyed) {
    // Not `once` of node:events, which rejects where the server resets what is still being written.
    await new Promise<void>((resolve) => {
      socket.once('end', resolve).once('close', () => resolve());
    });
  }
  return text;
}

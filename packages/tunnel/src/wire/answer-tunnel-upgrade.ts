import type { Duplex } from 'node:stream';
import { TUNNEL_PROTOCOL } from './connection-offer.ts';

/** Not imported: that would load undici and WebSocket too, 30 ms and 12 MB of a start. */
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** Writes the 101 that turns an HTTP/1.1 connection into a tunnel connection; the socket then goes to `TunnelHub.accept`. */
export function answerTunnelUpgrade(socket: Duplex, protocol: string = TUNNEL_PROTOCOL): void {
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`);
}

/** Says no in place of a 101 and ends the connection. `reason` is shown by the agent; `retryAfterSeconds` it obeys. */
export function refuseTunnelUpgrade(socket: Duplex, status: number, reason: string, retryAfterSeconds?: number): void {
  const body = Buffer.from(`${reason}\n`);
  const retry = retryAfterSeconds === undefined ? '' : `Retry-After: ${Math.ceil(retryAfterSeconds)}\r\n`;
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n` +
      `${retry}Content-Length: ${body.length}\r\n\r\n${body.toString()}`,
  );
}

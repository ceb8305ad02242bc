import type { Duplex } from 'node:stream';
import type { Headers } from '@asterism/client';
import { answerCarrier, type CarrierOptions } from './carriers.ts';
import { formatResponseHead } from './http-head.ts';

/** Not imported: that would load undici and WebSocket too, 30 ms and 12 MB of a start. */
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/**
 * Writes the 101 that turns an HTTP/1.1 connection into a tunnel connection, by either carrier, and gives what then goes to
 * `TunnelHub.accept`. `headers` are those of the upgrade request, `head` what came behind it.
 *
 * @throws TunnelError `PROTOCOL` for an upgrade to something else; nothing was written then.
 */
export function answerTunnelUpgrade(
  socket: Duplex,
  headers: Readonly<Headers>,
  head: Uint8Array,
  options?: CarrierOptions,
): Duplex {
  const { headers: answer, carry } = answerCarrier(headers, options);
  socket.write(formatResponseHead({ status: 101, headers: answer }));
  return carry(socket, head);
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

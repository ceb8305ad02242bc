import { createHash, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** Stands for large contents where they are compared, so that a failure prints two lines and not megabytes. */
export function sumOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The sums of `length` bytes that a port of this machine was sent, with an end behind them, and of all that it sent back. */
export async function echoed(port: number, length: number): Promise<[sent: string, received: string]> {
  const sent = randomBytes(length);
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  socket.end(sent);
  return [sumOf(sent), sumOf(await buffer(socket))];
}

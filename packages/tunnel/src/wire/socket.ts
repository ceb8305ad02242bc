import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';

/** TCP's own probe finds a dead peer of a byte pipe, on which nothing of ours can be sent. */
const KEEP_ALIVE_MS = 10_000;

export interface TakeOverOptions {
  /** A byte pipe keeps half-close. Frames have none: their ends would wait for ever on a socket that is half open. */
  halfOpen: boolean;
}

/** The socket beneath a carrier that puts its bytes into messages, as `WebSocketCarrier` does; else the carrier itself. */
export function lineOf(carrier: Duplex): Duplex {
  return 'line' in carrier && carrier.line instanceof Duplex ? carrier.line : carrier;
}

/** Sets up a socket that the tunnel takes over: small writes go out at once, no idle timeout. */
export function takeOver(socket: Duplex, { halfOpen }: TakeOverOptions): void {
  socket.allowHalfOpen = halfOpen;
  socket.on('error', () => {}); // The close that follows says all; nobody else listens in some states.
  const line = lineOf(socket);
  if (line instanceof Socket) {
    line.setNoDelay(true);
    line.setKeepAlive(true, KEEP_ALIVE_MS);
    line.setTimeout(0);
  }
}

/**
 * Waits until what was written has left this process: the answer to the upgrade comes before the first frame.
 */
export async function whenFlushed(socket: Duplex): Promise<void> {
  // There is no event for it: 'drain' comes only above the high-water mark.
  while (socket.writableLength > 0 && !socket.destroyed) await setImmediate();
}

/**
 * Breaks a connection off so that the other end takes it for neither an end nor a half-close. TLS has no such sign in Node: there
 * it is an end, and the other end finds the rest out when it writes, or by TCP's keep-alive. A WebSocket carrier says so itself.
 */
export function breakSocket(socket: Duplex): void {
  if (socket instanceof Socket && !('encrypted' in socket)) socket.resetAndDestroy();
  else socket.destroy();
}

/** What went through the socket of a carrier so far; nothing is known of a stream that is no socket. */
export function bytesOf(carrier: Duplex): { received: number; sent: number } {
  const line = lineOf(carrier);
  return line instanceof Socket ? { received: line.bytesRead, sent: line.bytesWritten } : { received: 0, sent: 0 };
}

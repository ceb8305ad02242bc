import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';

/** TCP's own probe finds a dead peer of a byte pipe, on which nothing of ours can be sent. */
const KEEP_ALIVE_MS = 10_000;

export interface TakeOverOptions {
  /** A byte pipe keeps half-close. HTTP/2 has none: it would wait for ever on a socket that is half open. */
  halfOpen: boolean;
  /** Bytes that were already read. */
  head?: Uint8Array | undefined;
}

/** Sets up a socket that the tunnel takes over: small writes go out at once, no idle timeout. */
export function takeOver(socket: Duplex, { halfOpen, head }: TakeOverOptions): void {
  socket.allowHalfOpen = halfOpen;
  socket.on('error', () => {}); // The close that follows says all; nobody else listens in some states.
  if (socket instanceof Socket) {
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.setTimeout(0);
  }
  if (head && head.length > 0) socket.unshift(head);
}

/**
 * Waits until what was written has left this process. HTTP/2 must not begin before: Node 24 ends the whole process by an
 * assertion when the write of the 101 completes on a TLS socket that an HTTP/2 session has taken meanwhile.
 */
export async function whenFlushed(socket: Duplex): Promise<void> {
  // There is no event for it: 'drain' comes only above the high-water mark.
  while (socket.writableLength > 0 && !socket.destroyed) await setImmediate();
}

/**
 * Breaks a connection off so that the other end takes it for neither an end nor a half-close. TLS has no such sign in Node: there
 * it is an end, and the other end finds the rest out when it writes, or by TCP's keep-alive.
 */
export function breakSocket(socket: Duplex): void {
  if (socket instanceof Socket && !('encrypted' in socket)) socket.resetAndDestroy();
  else socket.destroy();
}

/** What went through a socket so far; nothing is known of a stream that is no socket. */
export function bytesOf(socket: Duplex): { received: number; sent: number } {
  return socket instanceof Socket
    ? { received: socket.bytesRead, sent: socket.bytesWritten }
    : { received: 0, sent: 0 };
}

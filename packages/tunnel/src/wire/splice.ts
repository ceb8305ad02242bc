import type { Duplex } from 'node:stream';
import { breakSocket } from './socket.ts';

/**
 * Joins two sockets byte for byte until both are closed. The end of one direction is passed on and the other direction goes on
 * (half-close). When one side breaks after its end, what it sent still reaches the other; when it breaks before, the other is
 * broken too.
 */
export async function splice(one: Duplex, other: Duplex): Promise<void> {
  await Promise.all([follow(one, other), follow(other, one)]);
}

/** Passes on what `from` sends, and its end. Resolves when `from` is closed. */
function follow(from: Duplex, to: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const onClose = (): void => {
      // Ended but broken in the other direction: nobody takes what `to` sends any more, but `to` may still hold the last bytes.
      if (from.readableEnded && !to.destroyed) to.unpipe(from).resume();
      else breakSocket(to);
      resolve();
    };
    from.on('error', () => {}); // The close that follows says all.
    if (from.destroyed) return onClose();
    from.once('close', onClose);
    from.pipe(to);
  });
}

import type { Duplex } from 'node:stream';
import { TunnelError } from '../tunnel-error.ts';

/** The first byte that comes, which is put back. @throws TunnelError `LOST` where the socket ends first. */
export function firstByteOf(socket: Duplex): Promise<number> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      socket.off('readable', onReadable).off('end', onEnd).off('close', onEnd);
      act();
    };
    const onEnd = (): void =>
      settle(() => reject(new TunnelError('LOST', 'the connection ended before anything came')));
    const onReadable = (): void => {
      const chunk = socket.read() as Buffer | null;
      if (!chunk) return;
      socket.unshift(chunk);
      settle(() => resolve(chunk[0] as number));
    };
    if (socket.destroyed || socket.readableEnded) return onEnd();
    socket.on('readable', onReadable).on('end', onEnd).on('close', onEnd);
  });
}

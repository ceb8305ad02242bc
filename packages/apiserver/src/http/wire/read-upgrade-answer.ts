import { type Duplex, Readable } from 'node:stream';
import type { Headers, TransportResponse, UpgradeResponse } from '@asterism/client';

const MAX_HEAD_BYTES = 64 * 1024;

/**
 * Reads the head of an HTTP/1.1 answer from a connection that asked for an Upgrade. After a 101 the socket is the caller's,
 * with what came behind the head put back; after any other answer its body is what follows, to the connection's end.
 */
export async function readUpgradeAnswer(socket: Duplex): Promise<UpgradeResponse | TransportResponse> {
  const head = await readHead(socket);
  const [statusLine = '', ...lines] = head.split('\r\n');
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1] ?? Number.NaN);
  if (Number.isNaN(status))
    throw new Error(`the answer to the Upgrade is not HTTP: ${JSON.stringify(statusLine.slice(0, 80))}`);
  const headers: Headers = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon > 0) headers[line.slice(0, colon).trim().toLowerCase()] = line.slice(colon + 1).trim();
  }
  if (status === 101) return { status, headers, socket };
  return { status, headers, body: socket instanceof Readable ? socket : Readable.from(socket, { objectMode: false }) };
}

/** Puts back what came behind the head before anybody can take the stream for ended. */
async function readHead(socket: Duplex): Promise<string> {
  let received = Buffer.alloc(0);
  return await new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      socket.off('readable', onReadable).off('close', onClose).off('end', onClose).off('error', onError);
      act();
    };
    const onReadable = (): void => {
      for (let piece = socket.read() as Buffer | null; piece !== null; piece = socket.read() as Buffer | null) {
        received = Buffer.concat([received, piece]);
        const end = received.indexOf('\r\n\r\n');
        if (end >= 0) {
          settle(() => resolve(received.toString('latin1', 0, end)));
          if (received.length > end + 4) socket.unshift(received.subarray(end + 4));
          return;
        }
        if (received.length > MAX_HEAD_BYTES)
          settle(() => reject(new Error('the head of the answer to the Upgrade is too long')));
      }
    };
    const onClose = (): void => settle(() => reject(new Error('the connection ended before the Upgrade was answered')));
    const onError = (error: Error): void => settle(() => reject(error));
    socket.on('readable', onReadable).on('close', onClose).on('end', onClose).on('error', onError);
  });
}

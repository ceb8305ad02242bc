import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A line between agent and hub that can fail. */
export interface Line extends AsyncDisposable {
  readonly port: number;
  /** Connections that were opened through it. */
  readonly opened: number;
  /** Nothing passes any more, in silence, and new connections hang. */
  freeze(): void;
  thaw(): void;
  /** Resets every connection. */
  cut(): void;
}

/** @param delayMs how long every byte is under way, in either direction. */
export async function startLine(targetPort: number, delayMs = 0): Promise<Line> {
  const pairs = new Set<[Socket, Socket]>();
  let frozen = false;
  let opened = 0;
  const later = (act: () => void): void => {
    if (frozen) return;
    if (delayMs === 0) act();
    else setTimeout(act, delayMs);
  };
  const server = createServer({ allowHalfOpen: true }, (near) => {
    opened += 1;
    const far = connect({ host: '127.0.0.1', port: targetPort, allowHalfOpen: true });
    const pair: [Socket, Socket] = [near, far];
    pairs.add(pair);
    for (const [from, to] of [pair, [far, near] as const]) {
      from.on('error', () => {});
      from.on('data', (chunk) => later(() => to.write(chunk)));
      from.on('end', () => later(() => to.end()));
      from.on('close', () => {
        pairs.delete(pair);
        if (!frozen) to.destroySoon();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const pair of pairs) for (const socket of pair) socket.resetAndDestroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    get opened() {
      return opened;
    },
    freeze: () => {
      frozen = true;
    },
    thaw: () => {
      frozen = false;
    },
    cut,
    async [Symbol.asyncDispose]() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}

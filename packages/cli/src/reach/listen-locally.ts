import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { CommandError } from '../exit-code.ts';

/** `localhost` is both loopback addresses, of which one is enough, as kubectl has it. */
const LOCALHOST = ['127.0.0.1', '::1'];

/** Where connections come in. */
export interface LocalListener {
  address: string;
  port: number;
  server: Server;
}

/**
 * Listens at a port of each address; 0 is a free one, the same at each. Sockets may be half-open: either direction ends for itself.
 * Rejects, with nothing left open, where an address cannot be listened at.
 */
export async function listenLocally(
  addresses: readonly string[],
  port: number,
  onConnection: (socket: Socket) => void,
): Promise<LocalListener[]> {
  const listeners: LocalListener[] = [];
  for (const address of addresses) {
    const hosts = address === 'localhost' ? LOCALHOST : [address];
    let failure: Error | undefined;
    let here = 0;
    for (const host of hosts) {
      try {
        listeners.push(await listen(host, listeners[0]?.port ?? port, onConnection));
        here++;
      } catch (error) {
        failure ??= error as Error;
      }
    }
    if (here > 0) continue;
    for (const { server } of listeners) server.close();
    throw new CommandError(`cannot listen at port ${port} of ${address}: ${failure?.message ?? ''}`, undefined, {
      cause: failure,
    });
  }
  return listeners;
}

async function listen(host: string, port: number, onConnection: (socket: Socket) => void): Promise<LocalListener> {
  const server = createServer({ allowHalfOpen: true }, onConnection);
  server.listen({ host, port, ipv6Only: true });
  await once(server, 'listening');
  return { address: host, port: (server.address() as AddressInfo).port, server };
}

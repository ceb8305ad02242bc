import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

/** Resolves when the server listens; without a host, on all addresses. */
export async function listen(
  server: Server,
  { port, host }: { port: number; host?: string | undefined },
): Promise<void> {
  server.listen(port, host);
  await once(server, 'listening');
}

/** `http://host:port`, as it is bound; undefined where it does not listen. */
export function urlOf(server: Server | undefined, scheme: 'http' | 'https'): string | undefined {
  const address = server?.address() as AddressInfo | null | undefined;
  if (!address) return undefined;
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `${scheme}://${host}:${address.port}`;
}

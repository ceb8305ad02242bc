import { once } from 'node:events';
import { createServer } from 'node:net';

/** Which this process was given already: whoever has one may not listen yet. */
const given = new Set<number>();

/**
 * A port of 127.0.0.1 that nobody listens on now, and another each time. It lies below the range from which the system takes the local ports of outgoing
 * connections (from 32768 on), so a server that was killed finds its port free when it is started again.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    if (given.has(port)) continue;
    const server = createServer();
    try {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      given.add(port);
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    } finally {
      server.close();
    }
  }
}

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

/**
 * As much of a Docker daemon as the cAdvisor in a kubelet asks for before it goes on; without an answer it waits 5 s for one.
 * Containers have nothing to do with it.
 */
export async function listenAsDocker(socket: string): Promise<AsyncDisposable> {
  const server: Server = createServer((request, response) => {
    const path = request.url?.replace(/^\/v[\d.]+/, '') ?? '';
    if (path === '/_ping') return response.end('OK');
    if (path === '/info') return response.end(JSON.stringify({ DockerRootDir: '/var/lib/docker' }));
    response.statusCode = 404;
    return response.end();
  });
  server.listen(socket);
  await once(server, 'listening');
  return {
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

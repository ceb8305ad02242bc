import { once } from 'node:events';
import type { ApiExtension } from '@asterism/apiserver';

/** In the member: who connects by an upgrade gets back what is sent, and its end. */
export function echo(): ApiExtension {
  return {
    group: 'echo.example',
    version: 'v1',
    resources: [
      {
        resource: 'echoes',
        singular: 'echo',
        kind: 'Echo',
        namespaced: false,
        verbs: ['get'],
        subresources: [{ name: 'connect', kind: 'Echo', verbs: ['create', 'get'] }],
        authorization: 'rbac',
        handle: () => Promise.reject(new Error('by an upgrade alone')),
        async upgrade({ request, user }, socket, head) {
          socket.write(
            `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${String(request.headers['upgrade'])}\r\n`,
          );
          socket.write(`x-user: ${user.username}\r\n\r\n`);
          socket.write(head);
          socket.allowHalfOpen = true;
          socket.pipe(socket);
          await once(socket, 'close');
        },
      },
    ],
  };
}

import type { Client, Transport, TransportRequest } from '@asterism/client';
import { NotLeadingError } from '../leader/leader-election.ts';

/**
 * The same client, which lets no write out unless `mayAct` says so at that very moment: a process that was frozen in the
 * middle of a reconcile must not go on where it stopped. Reads pass.
 *
 * It is asked when a write begins, and again when that is handed to its connection, which may be much later: credentials are
 * fetched and connections opened in between. What may still arrive late is what the system had been given by then.
 */
export function guardedClient(client: Client, mayAct: () => boolean): Client {
  const guarded = client.through((transport) => guardedTransport(transport, mayAct));
  return {
    transport: guarded.transport,
    discovery: client.discovery,
    readBudget: client.readBudget,
    resource: (type) => guarded.resource(type),
    getJson: (path, options) => guarded.getJson(path, options),
    request: (request) => guarded.request(request),
    upgrade: (request) => guarded.upgrade(request),
    version: (options) => guarded.version(options),
    impersonating: (user) => guardedClient(client.impersonating(user), mayAct),
    through: (wrap) => guardedClient(client.through(wrap), mayAct),
  };
}

function guardedTransport(transport: Transport, mayAct: () => boolean): Transport {
  const admitted = (request: TransportRequest): TransportRequest => {
    const { method, path } = request;
    if (method === 'GET' || method === 'HEAD') return request;
    const admit = (): void => {
      request.admit?.();
      if (mayAct()) return;
      const [what] = path.split('?');
      throw new NotLeadingError(`${method} ${what} was not sent: this process does not lead, or no longer for certain`);
    };
    admit();
    return { ...request, admit };
  };
  return {
    ...(transport.server === undefined ? {} : { server: transport.server }),
    request: async (request) => await transport.request(admitted(request)),
    upgrade: async (request) => await transport.upgrade(admitted(request)),
    close: () => transport.close(),
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  };
}

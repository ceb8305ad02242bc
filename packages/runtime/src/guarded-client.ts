import type { Client, ResourceClient, Transport, TransportRequest } from '@asterism/client';
import type { KubeObject } from '@asterism/machinery';
import { NotLeadingError } from './leader-election.ts';

/**
 * The same client, which lets no write out unless `mayAct` says so at that very moment: a process that was frozen in the
 * middle of a reconcile must not go on where it stopped. Reads pass.
 */
export function guardedClient(client: Client, mayAct: () => boolean): Client {
  const check = (what: string): void => {
    if (!mayAct())
      throw new NotLeadingError(`${what} was not sent: this process does not lead, or no longer for certain`);
  };
  const checkRequest = ({ method, path }: TransportRequest): void => {
    if (method !== 'GET' && method !== 'HEAD') check(`${method} ${path}`);
  };
  return {
    transport: guardedTransport(client.transport, checkRequest),
    discovery: client.discovery,
    resource: (type) => guardedResource(client.resource(type), check),
    getJson: (path, options) => client.getJson(path, options),
    request: async (request) => {
      checkRequest(request);
      return await client.request(request);
    },
    version: (options) => client.version(options),
    impersonating: (user) => guardedClient(client.impersonating(user), mayAct),
    through: (wrap) => guardedClient(client.through(wrap), mayAct),
  };
}

function guardedTransport(transport: Transport, check: (request: TransportRequest) => void): Transport {
  return {
    ...(transport.server === undefined ? {} : { server: transport.server }),
    request: async (request) => {
      check(request);
      return await transport.request(request);
    },
    upgrade: async (request) => {
      check(request);
      return await transport.upgrade(request);
    },
    close: () => transport.close(),
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  };
}

function guardedResource<T extends KubeObject>(
  client: ResourceClient<T>,
  check: (what: string) => void,
): ResourceClient<T> {
  const checked = <A extends unknown[], R>(verb: string, call: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      check(`${verb} of ${client.type.resource}`);
      return await call(...args);
    };
  };
  return {
    type: client.type,
    get: (ref, options) => client.get(ref, options),
    list: (options) => client.list(options),
    pages: (options) => client.pages(options),
    watch: (options) => client.watch(options),
    create: checked('create', client.create.bind(client)),
    update: checked('update', client.update.bind(client)),
    patch: checked('patch', client.patch.bind(client)),
    apply: checked('apply', client.apply.bind(client)),
    delete: checked('delete', client.delete.bind(client)),
    deleteCollection: checked('deleteCollection', client.deleteCollection.bind(client)),
  };
}

import type { Transport, TransportRequest } from './transport.ts';

/**
 * The same transport with every path below `basePath` (`/apis/…/clusters/edge/proxy`): an API server that another one
 * proxies, on the connections that are open already. Closing it leaves those open: they belong to who opened them.
 */
export function withBasePath(transport: Transport, basePath: string): Transport {
  const below = (request: TransportRequest): TransportRequest => ({ ...request, path: basePath + request.path });
  return {
    ...(transport.server === undefined ? {} : { server: transport.server + basePath }),
    request: (request) => transport.request(below(request)),
    upgrade: (request) => transport.upgrade(below(request)),
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

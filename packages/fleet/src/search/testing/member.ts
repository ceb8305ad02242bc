import { Readable } from 'node:stream';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { type Client, createClient, type Transport, type TransportRequest } from '@asterism/client';
import { CONFIG_MAPS, failure, NAMESPACES } from '@asterism/machinery';

/** A member cluster that can misbehave, and knows what it was asked. */
export interface Member extends AsyncDisposable {
  readonly server: TestServer;
  /** As search reaches it. */
  readonly client: Client;
  /** The paths with queries that search asked for, in order. */
  readonly asked: string[];
  /** Answers requests to which `matches` applies with that status, until the function that it returns is called. */
  refuse(matches: (request: TransportRequest) => boolean, code: number): () => void;
  /** The uid of its kube-system namespace. */
  id(): Promise<string>;
  /** Creates ConfigMaps in `default`. */
  put(...names: string[]): Promise<void>;
  change(name: string): Promise<void>;
  remove(name: string): Promise<void>;
}

export async function startMember(): Promise<Member> {
  // Without an authority for clients and service accounts there are no ConfigMaps that tell of them: those that are put are all.
  const server = await startTestServer({
    controllers: false,
    admissionPlugins: { disable: ['ServiceAccount'] },
    clientCa: undefined,
    serviceAccounts: undefined,
  });
  const asked: string[] = [];
  const refusals = new Set<{ matches: (request: TransportRequest) => boolean; code: number }>();
  const inner = server.client.transport;
  const transport: Transport = {
    ...(inner.server === undefined ? {} : { server: inner.server }),
    async request(request) {
      asked.push(request.path);
      const refusal = [...refusals].find(({ matches }) => matches(request));
      if (!refusal) return await inner.request(request);
      const { status } = failure(refusal.code, 'refused by a test', refusal.code === 410 ? { reason: 'Expired' } : {});
      const headers = { 'content-type': 'application/json' };
      return { status: refusal.code, headers, body: Readable.from([Buffer.from(JSON.stringify(status))]) };
    },
    upgrade: (request) => inner.upgrade(request),
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const maps = server.client.resource(CONFIG_MAPS);
  return {
    server,
    asked,
    client: createClient({ transport }),
    refuse(matches, code) {
      const refusal = { matches, code };
      refusals.add(refusal);
      return () => refusals.delete(refusal);
    },
    id: async () => (await server.client.resource(NAMESPACES).get({ name: 'kube-system' })).metadata?.uid ?? '',
    async put(...names) {
      await Promise.all(names.map((name) => maps.create({ metadata: { name, namespace: 'default' } })));
    },
    async change(name) {
      await maps.patch({ namespace: 'default', name }, { type: 'merge', body: { data: { changed: 'yes' } } });
    },
    async remove(name) {
      await maps.delete({ namespace: 'default', name });
    },
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

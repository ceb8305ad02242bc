import type { UserInfo } from '@asterism/apiserver';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import type { Client } from '@asterism/client';
import { type KubeList, type KubeObject, parseJson, type Table } from '@asterism/machinery';
import { createManager, type Engagement, type Manager, silentLogger } from '@asterism/runtime';
import {
  API_VERSION,
  type Cluster,
  CLUSTERS,
  HUB_CONFIGURATIONS,
  customResourceDefinitions,
  SEARCH_PATH,
} from '../../api/index.ts';
import { addSearchSync, SEARCH_CLUSTER_ANNOTATION, SearchCatalogue, searchExtension } from '../index.ts';
import type { IndexRule } from '../sync/indexed-resources.ts';
import type { Member } from './member.ts';
import { type ObservedStore, observeStore } from './observed-store.ts';
import { openStore } from './open-store.ts';

export const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

export interface Answer {
  status: number;
  warnings: string[];
  body: unknown;
  text: string;
}

/** A hub with search in it, over a store that outlives it. */
export interface SearchFleet extends AsyncDisposable {
  readonly hub: TestServer;
  readonly store: ObservedStore;
  /** Makes its Cluster, and lets the hub reach it. */
  join(name: string, member: Member, index?: IndexRule[]): Promise<void>;
  /** Lets the hub reach it (again), as a provider does. */
  engage(name: string, member: Member): void;
  disengage(name: string): Promise<void>;
  /** Deletes its Cluster. */
  leave(name: string): Promise<void>;
  setIndex(name: string, index: IndexRule[]): Promise<void>;
  /** Ends as a hub does that is stopped; the API goes on, knowing nothing. */
  stopFollowing(): Promise<void>;
  startFollowing(): Promise<void>;
  /** GET below `resources`, by the administrator or somebody else. */
  ask(path: string, options?: { accept?: string; client?: Client }): Promise<Answer>;
  /** `alpha/demo/web`: what a list finds. */
  found(path: string): Promise<string[]>;
  table(path: string): Promise<Table>;
  clientAs(user: UserInfo): Client;
}

const KINDS: ReadonlySet<string> = new Set([CLUSTERS.resource, HUB_CONFIGURATIONS.resource]);

export async function startSearchFleet(): Promise<SearchFleet> {
  await using parts = new AsyncDisposableStack();
  const store = parts.use(observeStore(await openStore()));
  const catalogue = new SearchCatalogue();
  const definitions = await customResourceDefinitions();
  const hub = parts.use(
    await startTestServer({
      controllers: false,
      admissionPlugins: { disable: ['ServiceAccount'] },
      extensions: [searchExtension({ store, catalogue })],
      crds: definitions.filter(({ spec }) => KINDS.has(spec.names.plural)),
    }),
  );
  const engagements = new Map<string, Engagement>();
  let run: { manager: Manager; end: AbortController; done: Promise<void>; engage: Engage } | undefined;

  async function startFollowing(): Promise<void> {
    const provider = Promise.withResolvers<Engage>();
    const manager = createManager({
      client: hub.client,
      logger: silentLogger,
      providers: [
        {
          async run(engage, signal) {
            provider.resolve(engage);
            await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
          },
        },
      ],
    });
    addSearchSync(manager, store, { catalogue, logger: silentLogger, random: () => 0 });
    const end = new AbortController();
    const done = manager.start(end.signal);
    run = { manager, end, done, engage: await provider.promise };
  }

  async function stopFollowing(): Promise<void> {
    run?.end.abort();
    await run?.done;
    engagements.clear();
    for (const name of catalogue.clusters()) catalogue.delete(name); // A process that is started again knows nothing.
  }

  async function ask(path: string, { accept, client = hub.client }: { accept?: string; client?: Client } = {}) {
    const headers = accept === undefined ? {} : { accept };
    const response = await client.request({ method: 'GET', path: `${SEARCH_PATH}${path}`, headers });
    const text = Buffer.concat(await response.body.toArray()).toString();
    const warnings = [response.headers['warning'] ?? []].flat();
    return { status: response.status, warnings, text, body: parseJson(text) as unknown };
  }

  function engage(name: string, member: Member): void {
    if (run) engagements.set(name, run.engage(name, member.client));
  }

  parts.defer(stopFollowing);
  await startFollowing();
  const all = parts.move();
  return {
    hub,
    store,
    async join(name, member, index) {
      await hub.client.resource(CLUSTERS).create(clusterOf(name, await member.id(), index));
      engage(name, member);
    },
    engage,
    async disengage(name) {
      await engagements.get(name)?.disengage();
    },
    async leave(name) {
      await hub.client.resource(CLUSTERS).delete({ name });
      await engagements.get(name)?.disengage();
    },
    async setIndex(name, index) {
      await hub.client.resource(CLUSTERS).patch({ name }, { type: 'merge', body: { spec: { index } } });
    },
    stopFollowing,
    startFollowing,
    ask,
    async found(path) {
      const { body } = await ask(path);
      return (body as KubeList<KubeObject>).items.map(({ metadata }) =>
        [metadata?.annotations?.[SEARCH_CLUSTER_ANNOTATION], metadata?.namespace, metadata?.name]
          .filter((part) => part !== undefined)
          .join('/'),
      );
    },
    table: async (path) => (await ask(path, { accept: TABLE })).body as Table,
    clientAs: (user) => hub.clientAs({ ...user, groups: [...user.groups, 'system:authenticated'] }),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

type Engage = (name: string, client: Client) => Engagement;

function clusterOf(name: string, id: string, index: IndexRule[] | undefined): Cluster {
  const connection = { type: 'Tunnel' as const };
  const spec = { id, syncMode: 'Pull' as const, connection, ...(index ? { index } : {}) };
  return { apiVersion: API_VERSION, kind: 'Cluster', metadata: { name }, spec };
}

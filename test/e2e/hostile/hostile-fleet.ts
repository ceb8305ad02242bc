import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { type Agent, runAgent } from '@asterism/agent';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { type Client, type Connection, createClient, createTransport } from '@asterism/client';
import { until } from '@asterism/client/testing';
import {
  AGENT_SERVICE_ACCOUNT,
  API_VERSION,
  type Cluster,
  CLUSTERS,
  PROPAGATION_POLICIES,
  SEARCH_PATH,
  SYSTEM_NAMESPACE,
} from '@asterism/fleet/api';
import { createBootstrapToken, memberManifests } from '@asterism/fleet/join';
import { CONFIG_MAPS, type KubeList } from '@asterism/machinery';
import { silentLogger } from '@asterism/runtime';
import { connectionOf } from '../../cluster/connection-of.ts';
import type { FleetHub } from '../../cluster/fleet-hub.ts';
import { HostileApiServer } from './hostile-api-server.ts';

const AGENT = {
  username: `system:serviceaccount:${SYSTEM_NAMESPACE}:${AGENT_SERVICE_ACCOUNT}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${SYSTEM_NAMESPACE}`, 'system:authenticated'],
};
const NAMESPACE = 'default';

/** How the hub was for a while. */
export interface Seen {
  /** The longest that `/livez` took to answer. */
  slowestMs: number;
  /** The most memory that was resident, in MiB. */
  mostMemory: number;
}

/** A hub, a cluster `elm` that is honest, and a cluster `oak` whose API server is hostile. Their agents run in this process. */
export class HostileFleet implements AsyncDisposable {
  readonly client: Client;
  readonly elm: TestServer;
  readonly oak: TestServer;
  readonly hostile: HostileApiServer;
  readonly #hub: FleetHub;
  readonly #parts: AsyncDisposableStack;
  #placed = 0;

  private constructor(
    hub: FleetHub,
    parts: AsyncDisposableStack,
    made: Pick<HostileFleet, 'client' | 'elm' | 'oak' | 'hostile'>,
  ) {
    this.#hub = hub;
    this.#parts = parts;
    this.client = made.client;
    this.elm = made.elm;
    this.oak = made.oak;
    this.hostile = made.hostile;
  }

  static async start(hub: FleetHub): Promise<HostileFleet> {
    await using parts = new AsyncDisposableStack();
    const connection = await connectionOf(hub.kubeconfig);
    const client = createClient({ transport: parts.use(createTransport(connection)) });
    const elm = await startMember(parts);
    const oak = await startMember(parts);
    const hostile = parts.use(await HostileApiServer.start(oak.connectionAs(AGENT)));
    await join(parts, client, connection, { name: 'elm', member: elm.connectionAs(AGENT) });
    await join(parts, client, connection, { name: 'oak', member: hostile.connection });
    const fleet = new HostileFleet(hub, parts.move(), { client, elm, oak, hostile });
    await client.resource(PROPAGATION_POLICIES).create({
      apiVersion: API_VERSION,
      kind: 'PropagationPolicy',
      metadata: { name: 'elm', namespace: NAMESPACE },
      spec: {
        resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap' }],
        placement: { clusterAffinity: { clusterNames: ['elm'] } },
      },
    });
    await fleet.assertElmWorks();
    return fleet;
  }

  /** Resident memory of the hub's process, in MiB. */
  async hubMemory(): Promise<number> {
    const [daemon] = this.#hub.daemons;
    const status = await readFile(`/proc/${await daemon?.pid()}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
  }

  /** The longest that `/livez` took to answer, in ms, for as long as `action` runs; and the most memory, in MiB. */
  async watch(action: Promise<unknown>): Promise<Seen> {
    let over = false;
    void action.then(
      () => (over = true),
      () => (over = true),
    );
    let slowestMs = 0;
    let mostMemory = 0;
    while (!over) {
      const begun = performance.now();
      const { body, status } = await this.client.request({ method: 'GET', path: '/livez' });
      body.resume();
      if (status !== 200) throw new Error(`/livez answered ${status}`);
      slowestMs = Math.max(slowestMs, performance.now() - begun);
      mostMemory = Math.max(mostMemory, await this.hubMemory());
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await action;
    return { slowestMs, mostMemory };
  }

  /** A template is placed in the honest cluster, and search finds it there. */
  async assertElmWorks(): Promise<void> {
    const name = `placed-${++this.#placed}`;
    await this.client.resource(CONFIG_MAPS).create({ metadata: { name, namespace: NAMESPACE }, data: { a: 'b' } });
    await this.until(`${name} is in elm`, async () => {
      const { items } = await this.elm.client.resource(CONFIG_MAPS).list({ namespace: NAMESPACE });
      return items.some(({ metadata }) => metadata?.name === name);
    });
    await this.until(`search finds ${name}`, async () => {
      const path = `${SEARCH_PATH}/api/v1/namespaces/${NAMESPACE}/configmaps?clusters=elm&names=${name}`;
      const { items } = (await this.client.getJson(path)) as KubeList;
      return items.length === 1;
    });
  }

  cluster(name: string): Promise<Cluster> {
    return this.client.resource(CLUSTERS).get({ name });
  }

  async until(what: string, holds: () => Promise<boolean>, timeoutMs = 30_000): Promise<void> {
    await until(async () => assert.ok(await holds(), what), timeoutMs);
  }

  /** Has the hub forget what it indexed of the hostile cluster, so that it begins again with the next rules. */
  async forgetIndex(): Promise<void> {
    await this.setSpec({ index: [] });
    await this.until('nothing of oak is indexed', async () => {
      const path = `${SEARCH_PATH}/clusters/oak/api/v1/configmaps?limit=1`;
      const response = await this.client.request({ method: 'GET', path });
      const { items = [] } = JSON.parse(Buffer.concat(await response.body.toArray()).toString()) as Partial<KubeList>;
      return response.status === 404 || items.length === 0;
    });
  }

  async setSpec(spec: Partial<Cluster['spec']>): Promise<void> {
    await this.client.resource(CLUSTERS).patch({ name: 'oak' }, { type: 'merge', body: { spec } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}

async function startMember(parts: AsyncDisposableStack): Promise<TestServer> {
  const member = await startTestServer();
  parts.use(member);
  for (const object of memberManifests({ syncMode: 'Pull' })) {
    await member.client.resource(await member.client.discovery.typeFor(object)).create(object);
  }
  return member;
}

async function join(
  parts: AsyncDisposableStack,
  hub: Client,
  { server, caData }: Connection,
  { name, member }: { name: string; member: Connection },
): Promise<Agent> {
  const { token } = await createBootstrapToken(hub, { autoApprove: true, cluster: name });
  const agent = runAgent({
    clusterName: name,
    syncMode: 'Pull',
    hub: { server, ca: caData ?? '', token },
    member,
    logger: silentLogger,
  });
  parts.use(agent);
  await agent.ready;
  return agent;
}

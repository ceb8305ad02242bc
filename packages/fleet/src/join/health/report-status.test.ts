import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestServer, type TestServer, untilObject } from '@asterism/apiserver/testing';
import { type Client, createClient, readBody, systemClock, type Transport } from '@asterism/client';
import { CUSTOM_RESOURCE_DEFINITIONS, NODES, parseJson, type Pod, PODS } from '@asterism/machinery';
import { createManager, silentLogger } from '@asterism/runtime';
import { type Cluster, CLUSTERS, customResourceDefinitions } from '../../api/index.ts';
import { definitionOf, WIDGETS } from '../../deliver/testing/custom-kind.ts';
import { StatusReporter } from './report-status.ts';

const NAME = 'edge-1';
const ref = { name: NAME };

/** A client that counts what it writes. */
function counting({ transport }: Client): { client: Client; writes: () => number } {
  let writes = 0;
  const counted: Transport = {
    request: (request) => {
      if (request.method !== 'GET') writes += 1;
      return transport.request(request);
    },
    upgrade: (request) => transport.upgrade(request),
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  return { client: createClient({ transport: counted }), writes: () => writes };
}

/** A client whose discovery does not know of the kinds of `example.com` while `hides` says so, and which tells how often it was asked. */
function lagging({ transport }: Client, hides: () => boolean, asked: () => void): Client {
  const cut: Transport = {
    request: async (request) => {
      const { 'if-none-match': known, ...asking } = request.headers ?? {};
      const response = await transport.request(known ? { ...request, headers: asking } : request);
      if (request.path !== '/apis' || !hides()) return response;
      asked();
      const text = response.bytes ?? (await readBody(response.body, 'member'));
      const groups = parseJson(Buffer.from(text).toString()) as { items: { metadata: { name: string } }[] };
      const items = groups.items.filter(({ metadata }) => metadata.name !== 'example.com');
      const { 'content-length': _, ...headers } = response.headers;
      return { ...response, headers, bytes: Buffer.from(JSON.stringify({ ...groups, items })) };
    },
    upgrade: (request) => transport.upgrade(request),
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  return createClient({ transport: cut });
}

function pod(name: string, cpu: string, nodeName?: string): Pod {
  const resources = { requests: { cpu } };
  return {
    metadata: { name, namespace: 'default' },
    spec: { ...(nodeName ? { nodeName } : {}), containers: [{ name: 'c', image: 'i', resources }] },
  };
}

describe('the status of a cluster', () => {
  const parts = new AsyncDisposableStack();
  let hub: TestServer;
  let member: TestServer;
  let writes: () => number;
  let looks = 0;
  let looked = (): void => {};
  let hidden = true;
  /** How often discovery has kept the kinds of `example.com` to itself. */
  let hiddenLooks = 0;
  let hid = (): void => {};
  /** By how much somebody has set the wall clock. */
  let aheadMs = 0;

  before(async () => {
    hub = parts.use(await startTestServer({ crds: await customResourceDefinitions() }));
    member = parts.use(await startTestServer());
    const spec = { id: 'id', syncMode: 'Pull' as const, connection: { type: 'Tunnel' as const } };
    await hub.client
      .resource(CLUSTERS)
      .create({ apiVersion: 'asterism.dev/v1alpha1', kind: 'Cluster', metadata: ref, spec });
    await node('n1');
    const counted = counting(hub.client);
    writes = counted.writes;
    const manager = createManager({ client: counted.client, logger: silentLogger });
    const first = Promise.withResolvers<void>();
    manager.add(
      new StatusReporter({
        clusterName: NAME,
        member: manager.addCluster(
          'member',
          lagging(
            member.client,
            () => hidden,
            () => {
              hiddenLooks += 1;
              hid();
            },
          ),
        ),
        hub: manager.local,
        logger: silentLogger,
        clock: { ...systemClock, wall: () => new Date(systemClock.wall().getTime() + aheadMs) },
        readinessMs: 20,
        statusMs: 600_000,
        pauseMs: 150,
        settleMs: 30,
        onFirst: first.resolve,
        onLook: () => {
          looks += 1;
          looked();
        },
      }),
    );
    const stopping = new AbortController();
    const done = manager.start(stopping.signal);
    parts.defer(async () => {
      stopping.abort();
      await done;
    });
    await first.promise;
  });

  after(() => parts.disposeAsync());

  async function node(name: string): Promise<void> {
    const resources = { cpu: '100', memory: '400Gi', pods: '250', 'example.com/fpga': '4' };
    const status = { capacity: resources, allocatable: resources, conditions: [{ type: 'Ready', status: 'True' }] };
    await member.client.resource(NODES).create({ metadata: { name } });
    await member.client.resource(NODES).patch({ name }, { type: 'merge', body: { status } }, { subresource: 'status' });
  }

  const when = (is: (status: NonNullable<Cluster['status']>) => boolean) =>
    untilObject(hub.client, CLUSTERS, ref, (each) => each?.status !== undefined && is(each.status));

  /** So many looks at the member later. */
  async function looksLater(count: number): Promise<void> {
    const target = looks + count;
    const { promise, resolve } = Promise.withResolvers<void>();
    looked = () => looks >= target && resolve();
    await promise;
  }

  test('tells what there is', async () => {
    const cluster = await when(({ nodes }) => nodes?.ready === 1);
    const { status } = cluster ?? {};
    assert.deepEqual(status?.apiServer?.livez, { ok: true });
    assert.deepEqual(status?.pods, { running: 0, pending: 0, max: 250 });
    assert.deepEqual(status?.glance, { nodes: '1/1', freeCPU: '100', freeMemory: '400Gi' });
    assert.equal(status?.resources?.allocatable?.['example.com/fpga'], '4');
  });

  test('nothing changes: nothing is written, however often it is looked at', async () => {
    await when(({ nodes }) => nodes?.ready === 1);
    await looksLater(3);
    const count = writes();
    await looksLater(20);
    assert.equal(writes(), count);
  });

  test('a burst of nodes is told together', async () => {
    const count = writes();
    await Promise.all(Array.from({ length: 40 }, (_, index) => node(`burst-${index}`)));
    await when(({ nodes }) => nodes?.ready === 41);
    assert.ok(writes() - count <= 12, `${writes() - count} writes for 80 changes`);
  });

  for (const [name, ms] of [
    ['back by a day', -86_400_000],
    ['forward by a day', 86_400_000],
  ] as const) {
    test(`somebody sets the clock ${name}: changes are reported as before`, async () => {
      aheadMs = ms;
      const extra = `after-${name.replaceAll(' ', '-')}`;
      const { items } = await member.client.resource(NODES).list();
      await node(extra);
      await when(({ nodes }) => nodes?.ready === items.length + 1);
      await member.client.resource(NODES).delete({ name: extra });
      await when(({ nodes }) => nodes?.ready === items.length);
      aheadMs = 0;
    });
  }

  test('figures wait for their turn; a step too small goes with what matters', async () => {
    await member.client.resource(PODS).create(pod('large', '90', 'n1'));
    await when(({ resources }) => resources?.allocated?.['cpu'] === '90');
    await looksLater(3);
    const count = writes();
    const pods = Array.from({ length: 50 }, (_, index) => pod(`small-${index}`, '10m', 'n1'));
    await Promise.all(pods.map((each) => member.client.resource(PODS).create(each)));
    await looksLater(20);
    assert.ok(writes() - count <= 1, 'the first pods that wait are news once');
    await member.client
      .resource(NODES)
      .patch({ name: 'n1' }, { type: 'merge', body: { spec: { unschedulable: true } } });
    const cluster = await when(({ nodes }) => nodes?.schedulable === 40);
    assert.equal(cluster?.status?.resources?.requested?.['cpu'], '90500m');
    assert.equal(cluster?.status?.resources?.allocated, undefined, 'nothing runs where work can go to');
  });

  test('a kubelet that only tells that it is alive causes nothing', async () => {
    await looksLater(3);
    const count = writes();
    const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-02T03:04:05Z' }];
    const body = { status: { conditions } };
    await member.client.resource(NODES).patch({ name: 'burst-1' }, { type: 'merge', body }, { subresource: 'status' });
    await looksLater(10);
    assert.equal(writes(), count);
  });

  test('a kind that is established before discovery lists it is told as soon as it does', async () => {
    await member.client.resource(CUSTOM_RESOURCE_DEFINITIONS).create(definitionOf(WIDGETS));
    // Once for the definition; from then on nobody rings.
    const { promise, resolve } = Promise.withResolvers<void>();
    const target = hiddenLooks + 2;
    hid = () => hiddenLooks >= target && resolve();
    await promise;
    hidden = false;
    await when(({ apis }) => apis?.some(({ groupVersion }) => groupVersion === 'example.com/v1') ?? false);
  });

  test('labels and taints that people set stay, whatever is reported; what is no taint is refused', async () => {
    const clusters = hub.client.resource(CLUSTERS);
    const taints = [{ key: 'team', value: 'blue', effect: 'NoExecute' }];
    const body = { metadata: { labels: { tier: 'gold' } }, spec: { taints } };
    const { metadata } = await clusters.patch(ref, { type: 'merge', body });
    const reported = await when(({ observedGeneration }) => observedGeneration === metadata.generation);
    assert.deepEqual([reported?.metadata.labels, reported?.spec.taints], [{ tier: 'gold' }, taints]);
    const wrong = { spec: { taints: [{ key: 'team', effect: 'NoWay' }] } };
    await assert.rejects(clusters.patch(ref, { type: 'merge', body: wrong }), /spec\.taints\[0\]\.effect/);
    const nameless = { spec: { taints: [{ effect: 'NoSchedule' }] } };
    await assert.rejects(clusters.patch(ref, { type: 'merge', body: nameless }), /spec\.taints\[0\]\.key/);
  });
});

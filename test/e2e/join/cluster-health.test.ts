// Runs beside other tests: it waits for 40 s until a silent cluster is Unknown.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { readBody } from '@asterism/client';
import { type Cluster, CLUSTERS, clusterNamespace, HEARTBEAT_LEASE, memberProxyPath } from '@asterism/fleet/api';
import { findCondition, LEASES, NODES, PODS } from '@asterism/machinery';
import { definitionOf, WIDGETS } from '../../../packages/fleet/src/deliver/testing/custom-kind.ts';
import { runAster } from '../../cluster/aster.ts';
import { CONTROL_PLANE_BINARIES, ControlPlane } from '../../cluster/control-plane.ts';
import { EmbeddedHub } from '../../cluster/embedded-hub.ts';
import { joinMember, type Member, openHub, type OpenHub } from '../../cluster/fleet.ts';
import { Kubectl, rowsOf } from '../../cluster/kubectl.ts';
import { markPodsReady } from '../../cluster/mark-pods-ready.ts';
import { requiredBinary, unlessThere } from '../../cluster/real-kubernetes.ts';
import { RunFolder } from '../../cluster/run-folder.ts';
import { until } from '../../cluster/until.ts';
import { eventually } from '../../demo/aster-up.ts';

const NEEDED = [...CONTROL_PLANE_BINARIES, 'kubectl-1.36', 'kubectl-1.20'] as const;
/** What the hub grants, and the freeze that must not count. */
const SILENT_MS = 40_000;
/** By when a line is dead over which nothing comes, and for how long calls then wait for another one; and what a busy machine adds. */
const HALF_OPEN_MS = 15_000 + 3_000 + 7_000;
const FEW_SECONDS_MS = 10_000;
/** Sooner than by default: here it is about what follows. */
const NODE_GRACE = ['--node-monitor-grace-period=8s', '--node-monitor-period=1s'];

const ready = (cluster: Cluster) => findCondition(cluster.status?.conditions, 'Ready');
const taints = ({ spec }: Cluster) => (spec.taints ?? []).map(({ key }) => key);
const words = (text: string) => text.replaceAll(/ +/g, ' ');

describe('the health of real clusters', { skip: unlessThere(...NEEDED) }, () => {
  const parts = new AsyncDisposableStack();
  let run: RunFolder;
  let hub: EmbeddedHub;
  let open: OpenHub;
  /** Its etcd, and one of its two nodes, stop; its agent freezes. */
  let alder: Member;
  /** Its agent stops. */
  let cedar: Member;
  let node: AsyncDisposable;

  before(async () => {
    run = parts.use(await RunFolder.open());
    const flags = { controllerManager: NODE_GRACE };
    const started = await Promise.all([
      EmbeddedHub.start(run).then((each) => parts.use(each)),
      ControlPlane.start(run, { name: 'alder', flags }).then((each) => parts.use(each)),
      ControlPlane.start(run, { name: 'cedar', controllers: ['serviceaccount', 'serviceaccount-token'] }).then((each) =>
        parts.use(each),
      ),
    ]);
    hub = started[0];
    open = await openHub(run, hub, parts);
    const { client } = started[1];
    parts.use(markPodsReady({ client, node: 'alder-0' }));
    node = parts.use(markPodsReady({ client, node: 'alder-1', scheduled: true }));
    const joining = { run, hub: open, parts, mode: 'pull' } as const;
    [alder, cedar] = await Promise.all([
      joinMember({ ...joining, name: 'alder', controlPlane: started[1] }),
      joinMember({ ...joining, name: 'cedar', controlPlane: started[2] }),
    ]);
  });

  after(() => parts.disposeAsync());

  const when = (name: string, isWanted: (cluster: Cluster) => boolean, timeoutMs?: number) =>
    until(open.client, CLUSTERS, { name }, isWanted, { timeoutMs });

  /** What a call to the member, through the hub, is answered; rejects where nothing is, not even that its line is dead. */
  async function asked(name: string): Promise<string> {
    const path = `${memberProxyPath(name)}/version`;
    const signal = AbortSignal.timeout(HALF_OPEN_MS);
    const { status, body } = await open.client.request({ method: 'GET', path, signal });
    return `${status} ${(await readBody(body, path)).toString()}`;
  }

  test('at a glance, for kubectl 1.36 and 1.20, and for aster', async () => {
    await when('alder', ({ status }) => status?.nodes?.ready === 2);
    const old = new Kubectl(requiredBinary('kubectl-1.20'), hub.kubeconfig, await run.folder('kubectl-1.20'));
    const tables = [
      await open.kubectl.run(['get', 'clusters']),
      await old.run(['get', 'clusters']),
      await runAster(['get', 'clusters', '--kubeconfig', hub.kubeconfig]),
    ];
    for (const table of tables) {
      const [first, second] = rowsOf(table);
      const { AGE, 'FREE CPU': cpu, 'FREE MEMORY': memory, VERSION, ...rest } = first ?? {};
      assert.deepEqual(
        rest,
        { NAME: 'alder', READY: 'True', REASON: 'ClusterReady', MODE: 'Pull', NODES: '2/2' },
        table,
      );
      assert.match(VERSION ?? '', /^v1\.20\./);
      assert.ok(Number(cpu) > 0 && /^[\d.]+[GT]i$/.test(memory ?? '') && AGE, table);
      assert.equal(second?.['NODES'], '0/0', table);
    }
  });

  test('a resource of its own kind is counted, and told by aster describe', async () => {
    const { client } = alder.controlPlane;
    const amount = { 'example.com/fpga': '4' };
    const body = { status: { capacity: amount, allocatable: amount } };
    await client.resource(NODES).patch({ name: 'alder-0' }, { type: 'merge', body }, { subresource: 'status' });
    await client.resource(PODS).create({
      metadata: { name: 'user-of-fpga', namespace: 'default' },
      spec: {
        nodeName: 'alder-0',
        containers: [{ name: 'c', image: 'i', resources: { limits: { 'example.com/fpga': '1' } } }],
      },
    });
    const { status } = await when('alder', (each) => each.status?.resources?.allocated?.['example.com/fpga'] === '1');
    const column = status?.nodeCapacity?.resources.indexOf('example.com/fpga') ?? -1;
    const grades = status?.nodeCapacity?.pools.flatMap((pool) => pool.grades) ?? [];
    assert.deepEqual(
      grades.map(({ free }) => free[column]).toSorted((a = 0, b = 0) => a - b),
      [0, 3],
    );
    const text = words(await runAster(['describe', 'cluster', 'alder', '--kubeconfig', hub.kubeconfig]));
    assert.match(text, /^ example\.com\/fpga 4 4 1 3 1$/m);
    assert.match(text, /^State: Ready for /m);
    assert.match(text, /^API server: .*:\d+; livez ok; readyz ok$/m);
  });

  test('what clusters serve is compared', async () => {
    await alder.kubectl.run(['apply', '-f', '-'], { stdin: JSON.stringify(definitionOf(WIDGETS)) });
    await when(
      'alder',
      ({ status }) => status?.apis?.some(({ groupVersion }) => groupVersion === 'example.com/v1') ?? false,
    );
    const table = await runAster(['api-resources', '--lacking', '--kubeconfig', hub.kubeconfig]);
    assert.match(words(table), /^widgets example\.com\/v1 true Widget cedar$/m);
  });

  test('an agent that stops is Unknown after 40 s; meanwhile a store, a node and the agent of another cluster fail, and are named', async () => {
    const stopped = performance.now();
    await cedar.agent.stop();
    const silent = when('cedar', (each) => taints(each).length > 0, SILENT_MS + 20_000).then((cluster) => ({
      cluster,
      afterMs: performance.now() - stopped,
    }));
    silent.catch(() => {});

    await alder.controlPlane.etcd.kill();
    const down = await when('alder', (each) => ready(each)?.status === 'False');
    assert.deepEqual(
      [ready(down)?.reason, ready(down)?.message],
      ['ApiServerNotReady', '/readyz answers 500: failing are etcd'],
    );
    assert.deepEqual(down.status?.apiServer?.readyz?.failing, ['etcd']);
    assert.match(
      words(await runAster(['describe', 'cluster', 'alder', '--kubeconfig', hub.kubeconfig])),
      /^API server: .*readyz fails: etcd$/m,
    );
    await when('alder', (each) => taints(each).includes('asterism.dev/not-ready'));
    await alder.controlPlane.startAgain();
    await when('alder', (each) => ready(each)?.status === 'True' && taints(each).length === 0);

    await node[Symbol.asyncDispose]();
    const lost = await when('alder', ({ status }) => status?.nodes?.ready === 1);
    assert.deepEqual(lost.status?.nodes, { total: 2, ready: 1, notReady: 1, schedulable: 1 });
    assert.equal(lost.status?.glance?.nodes, '1/2');

    const { spec } = await when('alder', ({ status }) => status?.tunnel !== undefined);
    assert.equal(spec.connection.type, 'Tunnel');

    // Its kernel goes on acknowledging what is sent to it.
    await alder.agent.freeze();
    try {
      assert.match(await asked('alder'), /^503 .*cluster \\"alder\\" cannot be reached: its agent is not connected/);
    } finally {
      await alder.agent.thaw();
    }
    await eventually(async () => assert.match(await asked('alder'), /^200 /), FEW_SECONDS_MS);

    const { cluster, afterMs } = await silent;
    assert.deepEqual([ready(cluster)?.status, ready(cluster)?.reason], ['Unknown', 'AgentSilent']);
    assert.deepEqual(taints(cluster), ['asterism.dev/unreachable']);
    assert.ok(afterMs > SILENT_MS - 11_000 && afterMs < SILENT_MS + 15_000, `after ${Math.round(afterMs / 1000)} s`);
    assert.match(
      words(await runAster(['describe', 'cluster', 'cedar', '--kubeconfig', hub.kubeconfig])),
      /^State: Unknown for .*last heard .* ago\nWhy: .*stopped renewing/m,
    );
    await cedar.agent.start();
    await when('cedar', (each) => ready(each)?.status === 'True' && taints(each).length === 0);
  });

  test('a hub that was frozen for longer than that marks nobody', async () => {
    const clusters = () => Promise.all(['alder', 'cedar'].map((name) => open.client.resource(CLUSTERS).get({ name })));
    const before_ = await clusters();
    const [daemon] = hub.daemons;
    await daemon.freeze();
    await delay(SILENT_MS + 2_000);
    await daemon.thaw();
    const thawed = new Date().toISOString();
    for (const name of ['alder', 'cedar']) {
      const ref = { namespace: clusterNamespace(name), name: HEARTBEAT_LEASE };
      await until(open.client, LEASES, ref, ({ spec }) => (spec?.renewTime ?? '') > thawed);
    }
    for (const [index, cluster] of (await clusters()).entries()) {
      const { status, lastTransitionTime } = ready(before_[index]!) ?? {};
      assert.equal(ready(cluster)?.status, status);
      assert.equal(ready(cluster)?.lastTransitionTime, lastTransitionTime, 'not one transition');
      assert.deepEqual(taints(cluster), []);
    }
  });
});

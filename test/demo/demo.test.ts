// Runs beside other tests: it waits for `aster` processes.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, after, test } from 'node:test';
import type { Client } from '@asterism/client';
import { CLUSTERS, RESOURCE_BINDINGS } from '@asterism/fleet/api';
import { CONFIG_MAPS, DEPLOYMENTS, isNotFound, PODS, SERVICES } from '@asterism/machinery';
import { readDemoTable } from '../../packages/cli/src/demo/demo-table.ts';
import { AsterUp, eventually, temporaryDataDir } from './aster-up.ts';

const web = { namespace: 'demo', name: 'web' };
const PLACED = { alder: 3, cedar: 6 };

let dir: Awaited<ReturnType<typeof temporaryDataDir>>;
let aster: AsterUp;
let hub: Client;
const recorder = new URL('./record-connections.js', import.meta.url).href;

before(async () => {
  dir = await temporaryDataDir();
  const environment = { NODE_OPTIONS: `--import=${recorder}`, RECORD_CONNECTIONS: join(dir.path, 'connections.log') };
  aster = new AsterUp(dir.path, ['--demo'], environment);
  await aster.ready();
  hub = await aster.hub();
});

after(async () => {
  await aster[Symbol.asyncDispose]();
  await dir[Symbol.asyncDispose]();
});

test('every cell of the table is what the member itself answers', async () => {
  const { deployment, rows } = await readDemoTable(hub);
  assert.equal(deployment, '9/9');
  assert.deepEqual(
    rows.map(({ cluster }) => cluster),
    ['alder', 'birch', 'cedar'],
  );
  for (const row of rows) {
    const member = await aster.member(row.cluster);
    const cluster = await hub.resource(CLUSTERS).get({ name: row.cluster });
    assert.equal(row.region, cluster.spec.region);
    if (row.cluster === 'birch') {
      await assert.rejects(member.resource(DEPLOYMENTS).get(web), isNotFound);
      assert.deepEqual([row.replicas, row.ready, row.image], [undefined, undefined, undefined]);
      assert.match(row.why, /tier/);
      continue;
    }
    const own = await member.resource(DEPLOYMENTS).get(web);
    const pods = await member.resource(PODS).list({ namespace: 'demo', labelSelector: 'app=web' });
    assert.equal(row.replicas, own.spec?.replicas);
    assert.equal(row.ready, own.status?.readyReplicas);
    assert.equal(row.ready, pods.items.filter((pod) => pod.status?.phase === 'Running').length);
    assert.equal(row.replicas, PLACED[row.cluster as keyof typeof PLACED]);
    for (const pod of pods.items) assert.equal(pod.spec?.containers?.[0]?.image, row.image);
    await member.resource(CONFIG_MAPS).get({ namespace: 'demo', name: 'web-pages' });
    await member.resource(SERVICES).get(web);
  }
  const images = new Map(rows.map(({ cluster, image }) => [cluster, image]));
  assert.equal(images.get('alder'), 'registry.example/web:1.27');
  assert.equal(images.get('cedar'), 'registry.ap-south.example/web:1.27');
});

test('what was printed is that table, and the commands to try next', () => {
  assert.match(aster.stdout, /^CLUSTER +MODE +REGION +REPLICAS +READY +IMAGE +WHY$/m);
  assert.match(aster.stdout, /^alder +Push +eu-central +3 +3 +registry\.example\/web:1\.27 /m);
  assert.match(aster.stdout, /^birch +Pull +us-east +- +- +- +\S/m);
  assert.match(aster.stdout, /^cedar +Pull, private +ap-south +6 +6 +registry\.ap-south\.example\/web:1\.27 /m);
  assert.match(aster.stdout, /kubectl --kubeconfig \S+kubeconfig get clusters/);
  assert.match(aster.stderr, /one query finds 9 pods/);
});

test('no connection to the private member ever came from the hub, and the hub holds no address of it', async () => {
  const cedar = await hub.resource(CLUSTERS).get({ name: 'cedar' });
  assert.deepEqual(cedar.spec.connection, { type: 'Tunnel' });
  const ports = { alder: await aster.memberPort('alder'), cedar: await aster.memberPort('cedar') };
  const connections = (await readFile(join(dir.path, 'connections.log'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map(Number));
  const dialled = (port: number) => connections.filter(([, to]) => to === port).map(([pid]) => pid);
  assert.ok(dialled(ports.alder).includes(aster.pid), 'the hub dials the Push member, so the record works');
  assert.ok(dialled(ports.cedar).length > 0, 'its own agent dials the private member');
  assert.ok(!dialled(ports.cedar).includes(aster.pid), 'the hub dialled the private member');
});

test('scaling in the hub reaches the members and comes back', async () => {
  await hub.resource(DEPLOYMENTS).patch(web, { type: 'merge', body: { spec: { replicas: 10 } } });
  await eventually(async () => {
    const template = await hub.resource(DEPLOYMENTS).get(web);
    assert.equal(template.status?.readyReplicas, 10);
    assert.equal(template.status?.observedGeneration, template.metadata?.generation);
  });
  const binding = (await hub.resource(RESOURCE_BINDINGS).list({ namespace: 'demo' })).items.find(
    ({ spec }) => spec.resource.kind === 'Deployment',
  );
  assert.equal(
    binding?.spec.clusters?.reduce((sum, { replicas }) => sum + (replicas ?? 0), 0),
    10,
  );
});

test('a pod deleted in a member comes back', async () => {
  const cedar = await aster.member('cedar');
  const [pod] = (await cedar.resource(PODS).list({ namespace: 'demo' })).items;
  await cedar.resource(PODS).delete({ namespace: 'demo', name: pod?.metadata?.name ?? '' });
  await eventually(async () => {
    const { items } = await cedar.resource(PODS).list({ namespace: 'demo' });
    assert.ok(!items.some(({ metadata }) => metadata?.uid === pod?.metadata?.uid));
    const own = await cedar.resource(DEPLOYMENTS).get(web);
    assert.equal(own.status?.readyReplicas, own.spec?.replicas);
  });
});

test('what somebody changes in a member is put right', async () => {
  const alder = await aster.member('alder');
  const wanted = (await alder.resource(DEPLOYMENTS).get(web)).spec?.replicas;
  await alder.resource(DEPLOYMENTS).patch(web, { type: 'merge', body: { spec: { replicas: 1 } } });
  await eventually(async () => {
    const own = await alder.resource(DEPLOYMENTS).get(web);
    assert.equal(own.spec?.replicas, wanted);
    assert.equal(own.status?.readyReplicas, wanted);
  });
});

test('all processes together take less than 600 MB', async () => {
  const processes = await aster.processes();
  assert.deepEqual([...processes.keys()].sort(), ['agents', 'hub', 'members']);
  let total = 0;
  for (const pid of processes.values()) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    total += Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
  }
  assert.ok(total < 600, `${Math.round(total)} MB`);
});

test('deleting the Deployment in the hub empties the members', async () => {
  await hub.resource(DEPLOYMENTS).delete(web);
  for (const name of Object.keys(PLACED)) {
    const member = await aster.member(name);
    await eventually(async () => {
      await assert.rejects(member.resource(DEPLOYMENTS).get(web), isNotFound);
      assert.equal((await member.resource(PODS).list({ namespace: 'demo' })).items.length, 0);
    });
  }
});

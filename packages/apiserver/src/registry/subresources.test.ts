import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type KubeObject } from '@asterism/machinery';
import { openTestRegistry, refused, type TestRegistry } from '../compose/testing/test-registry.ts';

const NAMESPACE = { namespace: 'default' };
const POD = { metadata: { name: 'p', labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };

function post(
  t: TestRegistry,
  place: string,
  name: string,
  subresource: string,
  body: KubeObject,
): Promise<KubeObject> {
  return t.create(place, body, { ...NAMESPACE, name, subresource });
}

function setStatus(t: TestRegistry, place: string, name: string, status: object) {
  const patch = { type: 'merge' as const, body: { status } };
  return t.registry.patch(t.resource(place), { ...NAMESPACE, name }, patch, t.context({ subresource: 'status' }));
}

describe('scale', () => {
  test('reads and writes the replicas of a workload, and nothing else', async () => {
    await using t = await openTestRegistry();
    const template = { metadata: { labels: { app: 'web' } }, spec: POD.spec };
    await t.create('apps/v1/deployments', {
      metadata: { name: 'web' },
      spec: { selector: { matchLabels: { app: 'web' } }, template },
    });
    const deployments = t.resource('apps/v1/deployments');
    const ref = { ...NAMESPACE, name: 'web' };
    const scale = (await t.registry.get(deployments, ref, { subresource: 'scale' })).parse();
    assert.deepEqual(
      [scale.kind, scale.apiVersion, scale.spec, scale.status],
      ['Scale', 'autoscaling/v1', { replicas: 1 }, { replicas: 0, selector: 'app=web' }],
    );
    const context = t.context({ subresource: 'scale' });
    await t.registry.update(deployments, ref, { ...scale, spec: { replicas: 3 } }, context);
    await refused(
      t.registry.update(deployments, ref, { ...scale, spec: { replicas: 4 } }, context),
      409,
      /object has been modified/,
    );
    await refused(
      t.registry.update(deployments, ref, { metadata: { name: 'web' }, spec: { replicas: -1 } }, context),
      422,
      /Scale.autoscaling "web" is invalid: spec.replicas/,
    );
    await refused(
      t.registry.update(deployments, ref, { ...scale, kind: 'Deployment', apiVersion: 'apps/v1' }, context),
      400,
    );
    const { stored } = await t.registry.patch(
      deployments,
      ref,
      { type: 'merge', body: { spec: { replicas: 7 } } },
      context,
    );
    assert.deepEqual(stored.parse().spec, { replicas: 7 });
    const now = await t.get('apps/v1/deployments', 'web');
    assert.equal((now.spec as { replicas: number }).replicas, 7);
    assert.equal(now.metadata?.generation, 3);
  });
});

describe('binding', () => {
  test('gives a pod its node, once', async () => {
    await using t = await openTestRegistry();
    await t.create('v1/pods', POD);
    const binding = { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n1' } };
    assert.equal((await post(t, 'v1/pods', 'p', 'binding', binding)).status, 'Success');
    const pod = (await t.get('v1/pods', 'p')) as KubeObject & { status?: { conditions?: { type: string }[] } };
    assert.equal((pod.spec as { nodeName?: string }).nodeName, 'n1');
    assert.deepEqual(
      pod.status?.conditions?.map(({ type }) => type),
      ['PodScheduled'],
    );
    await refused(post(t, 'v1/pods', 'p', 'binding', binding), 409, /already assigned to node "n1"/);
    await refused(post(t, 'v1/pods', 'none', 'binding', binding), 400, /name in URL does not match/);
    await refused(post(t, 'v1/pods', 'none', 'binding', { ...binding, metadata: { name: 'none' } }), 404);
    const astray = { ...binding, target: { kind: 'Rack' } };
    await refused(
      post(t, 'v1/pods', 'p', 'binding', astray),
      500,
      /target\.kind: Unsupported value.*target\.name: Required/,
    );
  });
});

describe('eviction', () => {
  test('deletes the pod unless its budget is spent', async () => {
    await using t = await openTestRegistry();
    for (const name of ['p', 'q']) {
      await t.create('v1/pods', { ...POD, metadata: { ...POD.metadata, name } });
      await setStatus(t, 'v1/pods', name, { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] });
    }
    await t.create('policy/v1/poddisruptionbudgets', {
      metadata: { name: 'b' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
    });
    const evict = (name: string): Promise<KubeObject> => post(t, 'v1/pods', name, 'eviction', { metadata: { name } });
    await refused(evict('p'), 429, /violate the pod's disruption budget/);
    await setStatus(t, 'policy/v1/poddisruptionbudgets', 'b', {
      observedGeneration: 1,
      disruptionsAllowed: 1,
      currentHealthy: 2,
      desiredHealthy: 1,
    });
    assert.equal((await evict('p')).status, 'Success');
    await refused(t.get('v1/pods', 'p'), 404);
    await refused(evict('q'), 429);
    const budget = await t.get('policy/v1/poddisruptionbudgets', 'b');
    assert.equal((budget.status as { disruptionsAllowed: number }).disruptionsAllowed, 0);
    await refused(post(t, 'v1/pods', 'q', 'eviction', { metadata: { name: 'other' } }), 400);
    // Where the others are enough, a pod that is not ready may go.
    await setStatus(t, 'v1/pods', 'q', { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] });
    const tried = { metadata: { name: 'q' }, deleteOptions: { dryRun: ['All'] } };
    assert.equal((await post(t, 'v1/pods', 'q', 'eviction', tried)).status, 'Success');
    await t.get('v1/pods', 'q');
    assert.equal((await evict('q')).status, 'Success');
    await refused(t.get('v1/pods', 'q'), 404);
  });
});

describe('services', () => {
  const ports = [{ port: 80 }];

  test('get an address of their own, keep it, and free it', async () => {
    await using t = await openTestRegistry({ serviceAddressRange: '10.1.0.0/29' });
    const addresses = new Set<string>();
    const addressOf = (service: KubeObject): string => (service.spec as { clusterIP: string }).clusterIP;
    for (let i = 0; i < 6; i++)
      addresses.add(addressOf(await t.create('v1/services', { metadata: { name: `s${i}` }, spec: { ports } })));
    assert.equal(addresses.size, 6);
    assert.ok([...addresses].every((address) => /^10\.1\.0\.[1-6]$/.test(address)));
    await refused(
      t.create('v1/services', { metadata: { name: 'more' }, spec: { ports } }),
      500,
      /a serviceIP: range is full/,
    );
    const [first = ''] = addresses;
    await refused(
      t.create('v1/services', { metadata: { name: 'x' }, spec: { ports, clusterIP: first } }),
      422,
      /already allocated/,
    );
    await refused(
      t.create('v1/services', { metadata: { name: 'x' }, spec: { ports, clusterIP: '10.2.0.1' } }),
      422,
      /does not match the current range/,
    );
    const services = t.resource('v1/services');
    const before = addressOf(await t.get('v1/services', 's1'));
    await t.registry.update(
      services,
      { ...NAMESPACE, name: 's1' },
      { metadata: { name: 's1' }, spec: { ports: [{ port: 81 }] } },
      t.context(),
    );
    assert.equal(addressOf(await t.get('v1/services', 's1')), before);
  });

  test('get node ports where their type has them, and none of the fields of other types', async () => {
    await using t = await openTestRegistry();
    const create = async (name: string, spec: object) =>
      (await t.create('v1/services', { metadata: { name }, spec })).spec as Record<string, unknown>;
    const node = await create('n', { type: 'NodePort', ports });
    const [port] = node.ports as { nodePort: number }[];
    assert.ok(port && port.nodePort >= 30_000 && port.nodePort <= 32_767);
    assert.equal((await create('h', { clusterIP: 'None', selector: { a: 'b' } })).clusterIP, 'None');
    const external = await create('e', { type: 'ExternalName', externalName: 'a.example.com' });
    assert.equal(external.clusterIP, undefined);
    await refused(create('bad', { ports: [{ port: 80 }, { port: 81 }] }), 422, /spec.ports\[0\].name: Required value/);
    await refused(create('none', {}), 422, /spec.ports: Required value/);
  });
});

describe('certificate signing requests', () => {
  test('say who asks, and are approved only through their own endpoint', async () => {
    await using t = await openTestRegistry();
    const place = 'certificates.k8s.io/v1/certificatesigningrequests';
    const block = '-----BEGIN CERTIFICATE REQUEST-----\neA==\n-----END CERTIFICATE REQUEST-----\n';
    const request = Buffer.from(block).toString('base64');
    const forged = { username: 'somebody-else', uid: '0', groups: ['others'], extra: { a: ['b'] } };
    const spec = { request, signerName: 'example.com/s', usages: ['client auth'], ...forged };
    const created = await t.create(place, { metadata: { name: 'c' }, spec });
    const { username, uid, groups, extra } = created.spec as Partial<typeof forged>;
    assert.deepEqual([username, uid, groups, extra], ['tester', undefined, ['system:masters'], undefined]);
    const conditions = [{ type: 'Approved', status: 'True', reason: 'r', message: 'm' }];
    const patch = (subresource: string, status: object) =>
      t.registry.patch(
        t.resource(place),
        { name: 'c' },
        { type: 'merge', body: { status } },
        t.context({ subresource }),
      );
    await patch('approval', { conditions, certificate: 'eA==' });
    const approved = (await t.get(place, 'c')).status as {
      conditions: { type: string; lastUpdateTime?: string }[];
      certificate?: string;
    };
    assert.equal(approved.conditions[0]?.type, 'Approved');
    assert.ok(approved.conditions[0]?.lastUpdateTime);
    assert.equal(approved.certificate, undefined);
    await refused(patch('approval', { conditions: [] }), 422, /may not remove a condition of type "Approved"/);
  });
});

describe('events', () => {
  test('are the same objects in both of their groups', async () => {
    await using t = await openTestRegistry();
    const involvedObject = { kind: 'Pod', name: 'p', namespace: 'default' };
    await t.create('v1/events', {
      metadata: { name: 'e' },
      involvedObject,
      message: 'hello',
      reason: 'R',
      type: 'Normal',
    });
    const seen = await t.get('events.k8s.io/v1/events', 'e');
    assert.equal(seen.apiVersion, 'events.k8s.io/v1');
    assert.deepEqual([seen.note, seen.regarding, seen.message], ['hello', involvedObject, undefined]);
    const events = t.resource('events.k8s.io/v1/events');
    const found = await t.registry.list(events, { ...NAMESPACE, fieldSelector: 'regarding.name=p' });
    assert.equal(found.items.length, 1);
    const patch = (body: object) =>
      t.registry.patch(events, { ...NAMESPACE, name: 'e' }, { type: 'merge', body }, t.context());
    await patch({ series: { count: 2, lastObservedTime: '2026-01-01T00:00:00.000000Z' } });
    assert.equal(((await t.get('v1/events', 'e')).series as { count: number }).count, 2);
    await refused(patch({ note: 'changed' }), 422, /message: Invalid value: "changed": field is immutable/);
  });
});

describe('autoscalers', () => {
  test('are seen by clients of v1 and of v2 alike', async () => {
    await using t = await openTestRegistry();
    const scaleTargetRef = { kind: 'Deployment', name: 'w', apiVersion: 'apps/v1' };
    await t.create('autoscaling/v1/horizontalpodautoscalers', {
      metadata: { name: 'h' },
      spec: { scaleTargetRef, maxReplicas: 3, targetCPUUtilizationPercentage: 55 },
    });
    const v2 = (await t.get('autoscaling/v2/horizontalpodautoscalers', 'h')).spec as {
      metrics: unknown[];
      minReplicas: number;
    };
    assert.deepEqual(v2.metrics, [
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 55 } } },
    ]);
    const v1 = (await t.get('autoscaling/v1/horizontalpodautoscalers', 'h')).spec as object;
    assert.deepEqual(v1, { scaleTargetRef, minReplicas: 1, maxReplicas: 3, targetCPUUtilizationPercentage: 55 });
  });
});

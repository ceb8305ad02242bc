import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { NAMESPACE, openTestRegistry, patch, refused, remove } from '../../compose/testing/test-registry.ts';
import { createMemoryStorage } from '../../storage/memory-storage.ts';
import { StorageError } from '../../storage/storage-error.ts';
import type { Storage } from '../../storage/storage.ts';
import { bound, configMap, PODS, pod, QUOTAS, usedOf, withControllers } from './testing/quota-trial.ts';

describe('what a write costs', () => {
  const cpu = (amount: string): object => ({ requests: { cpu: amount }, limits: { cpu: amount } });
  const service = (spec: object): KubeObject => ({ metadata: { name: 'a' }, spec: { ports: [{ port: 80 }], ...spec } });
  const claim: KubeObject = {
    metadata: { name: 'a' },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'gold', resources: { requests: { storage: '2Gi' } } },
  };
  const affinity = {
    podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'z', namespaces: ['other'] }] },
  };
  const TABLE: { name: string; place?: string; object: KubeObject; spec?: object; costs: Record<string, string> }[] = [
    {
      name: 'a pod: its requests and limits, with the overhead of what starts before',
      object: pod(
        'a',
        {
          initContainers: [
            { name: 'i', image: 'i', resources: { requests: { cpu: '2', memory: '1Mi' }, limits: { memory: '1Mi' } } },
          ],
        },
        { requests: { cpu: '500m', memory: '1Gi' }, limits: { memory: '2Gi' } },
      ),
      costs: {
        pods: '1',
        'count/pods': '1',
        cpu: '2',
        'requests.cpu': '2',
        'requests.memory': '1Gi',
        'limits.memory': '2Gi',
      },
    },
    {
      name: 'a pod: huge pages, what only some nodes have, room on disks',
      object: pod(
        'a',
        {},
        {
          requests: { cpu: '1', 'hugepages-2Mi': '4Mi', 'example.com/gpu': '2', 'ephemeral-storage': '1Gi' },
          limits: { 'hugepages-2Mi': '4Mi', 'example.com/gpu': '2' },
        },
      ),
      costs: {
        'hugepages-2Mi': '4Mi',
        'requests.hugepages-2Mi': '4Mi',
        'requests.example.com/gpu': '2',
        'requests.ephemeral-storage': '1Gi',
      },
    },
    {
      name: 'scopes: Terminating',
      object: pod('a', { activeDeadlineSeconds: 5 }),
      spec: { scopes: ['Terminating'] },
      costs: { pods: '1' },
    },
    {
      name: 'scopes: not NotTerminating',
      object: pod('a', { activeDeadlineSeconds: 5 }),
      spec: { scopes: ['NotTerminating'] },
      costs: { pods: '0' },
    },
    { name: 'scopes: BestEffort', object: pod('a'), spec: { scopes: ['BestEffort'] }, costs: { pods: '1' } },
    {
      name: 'scopes: not BestEffort',
      object: pod('a', {}, cpu('1')),
      spec: { scopes: ['BestEffort'] },
      costs: { pods: '0' },
    },
    {
      name: 'scopes: NotBestEffort',
      object: pod('a', {}, cpu('1')),
      spec: { scopes: ['NotBestEffort'] },
      costs: { pods: '1' },
    },
    {
      name: 'scopes: CrossNamespacePodAffinity',
      object: pod('a', { affinity }),
      spec: { scopes: ['CrossNamespacePodAffinity'] },
      costs: { pods: '1' },
    },
    {
      name: 'a scope selector: PriorityClass',
      object: pod('a', { priorityClassName: 'system-node-critical' }),
      spec: {
        scopeSelector: {
          matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['system-node-critical'] }],
        },
      },
      costs: { pods: '1' },
    },
    {
      name: 'a scope selector: another PriorityClass',
      object: pod('a'),
      spec: { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] } },
      costs: { pods: '0' },
    },
    {
      name: 'a Service: node ports and load balancers',
      place: 'v1/services',
      object: service({
        type: 'LoadBalancer',
        ports: [
          { port: 80, name: 'a' },
          { port: 81, name: 'b' },
        ],
      }),
      costs: { services: '1', 'count/services': '1', 'services.nodeports': '2', 'services.loadbalancers': '1' },
    },
    {
      name: 'a load balancer without node ports',
      place: 'v1/services',
      object: service({ type: 'LoadBalancer', allocateLoadBalancerNodePorts: false }),
      costs: { 'services.nodeports': '0', 'services.loadbalancers': '1' },
    },
    {
      name: 'a claim: in all and of its class',
      place: 'v1/persistentvolumeclaims',
      object: claim,
      costs: {
        persistentvolumeclaims: '1',
        'requests.storage': '2Gi',
        'gold.storageclass.storage.k8s.io/requests.storage': '2Gi',
        'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
        'tin.storageclass.storage.k8s.io/requests.storage': '0',
      },
    },
    {
      name: 'a claim of devices',
      place: 'resource.k8s.io/v1/resourceclaims',
      object: {
        metadata: { name: 'a' },
        spec: {
          devices: {
            requests: [{ name: 'g', exactly: { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 3 } }],
          },
        },
      },
      costs: { 'gpu.deviceclass.resource.k8s.io/devices': '3', 'count/resourceclaims.resource.k8s.io': '1' },
    },
    {
      name: 'anything else: its number',
      place: 'apps/v1/controllerrevisions',
      object: { metadata: { name: 'a' }, revision: 1, data: {} },
      costs: { 'count/controllerrevisions.apps': '1', 'count/deployments.apps': '0' },
    },
    {
      name: 'old names of numbers',
      place: 'v1/secrets',
      object: { metadata: { name: 'a' } },
      costs: { secrets: '1', 'count/secrets': '1' },
    },
  ];
  for (const { name, place = PODS, object, spec = {}, costs } of TABLE) {
    test(name, async () => {
      await using t = await openTestRegistry();
      await bound(t, Object.fromEntries(Object.keys(costs).map((each) => [each, '100Gi'])), spec);
      await t.create(place, object);
      assert.deepEqual(await usedOf(t), costs);
    });
  }

  test('the same, counted by the controller', async () => {
    await using t = await withControllers();
    for (const { place = PODS, object } of TABLE) {
      const generateName = 'each-';
      await t.create(place, { ...object, metadata: { generateName } });
    }
    const hard = {
      pods: '100',
      'requests.storage': '100Gi',
      'count/controllerrevisions.apps': '5',
      'services.nodeports': '9',
    };
    await t.create(QUOTAS, { metadata: { name: 'q' }, spec: { hard } });
    await t.settled();
    const pods = String(TABLE.filter(({ place }) => place === undefined).length);
    assert.deepEqual(await usedOf(t), {
      pods,
      'requests.storage': '2Gi',
      'count/controllerrevisions.apps': '1',
      'services.nodeports': '2',
    });
  });

  test('an update costs what it adds', async () => {
    await using t = await openTestRegistry();
    await bound(t, { 'services.nodeports': '1', services: '1' });
    await t.create('v1/services', service({}));
    await patch(t, 'v1/services', 'a', { spec: { type: 'NodePort' } });
    assert.deepEqual(await usedOf(t), { 'services.nodeports': '1', services: '1' });
    const ports = [
      { port: 80, name: 'a' },
      { port: 81, name: 'b' },
    ];
    await refused(
      patch(t, 'v1/services', 'a', { spec: { ports } }),
      403,
      'services "a" is forbidden: exceeded quota: q, requested: services.nodeports=1, used: services.nodeports=1, limited: services.nodeports=1',
    );
  });
});

describe('what a quota refuses', () => {
  test('names all that is exceeded, and nothing else', async () => {
    await using t = await openTestRegistry();
    await bound(t, { pods: '5', 'requests.cpu': '1', 'limits.memory': '1Gi' });
    await t.create(PODS, pod('a', {}, { requests: { cpu: '500m' }, limits: { memory: '512Mi' } }));
    await refused(
      t.create(PODS, pod('b', {}, { requests: { cpu: '600m' }, limits: { memory: '1Gi' } })),
      403,
      'pods "b" is forbidden: exceeded quota: q, requested: limits.memory=1Gi,requests.cpu=600m, used: limits.memory=512Mi,requests.cpu=500m, limited: limits.memory=1Gi,requests.cpu=1',
    );
    assert.deepEqual(await usedOf(t), { pods: '1', 'requests.cpu': '500m', 'limits.memory': '512Mi' });
  });

  test('pods that do not say what they need', async () => {
    await using t = await openTestRegistry();
    await bound(t, { 'limits.cpu': '1', 'requests.memory': '1Gi' });
    const two = { initContainers: [{ name: 'init', image: 'i' }] };
    await refused(
      t.create(PODS, pod('a', two)),
      403,
      'pods "a" is forbidden: failed quota: q: must specify limits.cpu for: app,init; requests.memory for: app,init',
    );
  });

  test('what has not been counted yet', async () => {
    await using t = await openTestRegistry();
    await t.create(QUOTAS, { metadata: { name: 'q' }, spec: { hard: { configmaps: '1' } } });
    await patch(t, QUOTAS, 'q', { status: { hard: { configmaps: '1' } } }, 'merge', { subresource: 'status' });
    const why = 'configmaps "a" is forbidden: status unknown for quota: q, resources: configmaps';
    await refused(t.create('v1/configmaps', configMap('a')), 403, why);
  });

  test('a dry run is refused, and costs nothing', async () => {
    await using t = await openTestRegistry();
    await bound(t, { configmaps: '1' });
    await t.create('v1/configmaps', configMap('a'), { dryRun: true });
    assert.deepEqual(await usedOf(t), { configmaps: '0' });
    await t.create('v1/configmaps', configMap('a'));
    await refused(t.create('v1/configmaps', configMap('b'), { dryRun: true }), 403, /exceeded quota: q/);
  });

  test('another namespace is not concerned', async () => {
    await using t = await openTestRegistry();
    await bound(t, { configmaps: '0' });
    await t.create('v1/namespaces', { metadata: { name: 'other' } });
    const { metadata, ...rest } = configMap('a');
    await t.create('v1/configmaps', { metadata: { ...metadata, namespace: 'other' }, ...rest });
    await refused(t.create('v1/configmaps', configMap('a')), 403, /exceeded quota: q/);
  });
});

describe('many at once', () => {
  test('of 50 creates at once a quota of 10 lets in 10', async () => {
    await using t = await openTestRegistry();
    await bound(t, { configmaps: '10' });
    const all = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) => t.create('v1/configmaps', configMap(`c${index}`))),
    );
    assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 10);
    assert.deepEqual(await usedOf(t), { configmaps: '10' });
  });

  test('the same while somebody else changes the quota, and things go', async () => {
    await using t = await withControllers();
    await t.create(QUOTAS, { metadata: { name: 'q' }, spec: { hard: { 'count/secrets': '10' } } });
    await t.settled();
    const creating = Array.from({ length: 50 }, async (_, index) => {
      await t.create('v1/secrets', { metadata: { name: `s${index}` } });
      if (index % 2 === 0) await remove(t, 'v1/secrets', `s${index}`);
    });
    const labelling = Array.from({ length: 10 }, (_, index) =>
      patch(t, QUOTAS, 'q', { metadata: { labels: { round: String(index) } } }),
    );
    const all = await Promise.allSettled(creating);
    await Promise.all(labelling);
    await t.settled();
    const { items } = await t.registry.list(t.resource('v1/secrets'), NAMESPACE);
    assert.ok(all.some(({ status }) => status === 'rejected'));
    assert.ok(items.length <= 10);
    assert.deepEqual(await usedOf(t), { 'count/secrets': String(items.length) });
  });
});

describe('what a failure leaves', () => {
  test('a storage that cannot write leaves nothing charged', async () => {
    const inner = createMemoryStorage();
    let broken = false;
    const storage: Storage = {
      open: (onCommit, onObject) => inner.open(onCommit, onObject),
      write: (changes) =>
        broken ? Promise.reject(new StorageError('FAILED', 'the disk is full')) : inner.write(changes),
      backup: (file) => inner.backup(file),
      close: () => inner.close(),
      [Symbol.asyncDispose]: () => inner.close(),
    };
    await using t = await openTestRegistry({ storage });
    await bound(t, { configmaps: '1' });
    broken = true;
    await refused(t.create('v1/configmaps', configMap('a')), 500);
    broken = false;
    assert.deepEqual(await usedOf(t), { configmaps: '0' });
    await t.create('v1/configmaps', configMap('a'));
  });

  test('a name that is taken costs nothing', async () => {
    await using t = await openTestRegistry();
    await bound(t, { configmaps: '5' });
    await t.create('v1/configmaps', configMap('a'));
    await refused(t.create('v1/configmaps', configMap('a')), 409);
    assert.deepEqual(await usedOf(t), { configmaps: '1' });
  });

  test('what went while nobody looked is counted when the server starts again', async () => {
    const storage = createMemoryStorage();
    {
      await using t = await openTestRegistry({ storage });
      await bound(t, { configmaps: '1' });
      await t.create('v1/configmaps', configMap('a'));
      await remove(t, 'v1/configmaps', 'a');
      assert.deepEqual(await usedOf(t), { configmaps: '1' });
    }
    await using t = await withControllers({ storage });
    await t.settled();
    assert.deepEqual(await usedOf(t), { configmaps: '0' });
  });
});

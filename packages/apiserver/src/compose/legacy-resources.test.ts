import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openTestRegistry } from './testing/test-registry.ts';

const NAMES = { metadata: { name: 'x' } };
const TEMPLATE = { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'b' }] } } } };

describe('versions for clients of 1.20', () => {
  test('are found by who asks, and not among what is served', async () => {
    await using t = await openTestRegistry();
    const shown = t.registry.served().map(({ type }) => `${type.group}/${type.version}`);
    for (const version of ['autoscaling/v2beta2', 'batch/v1beta1', 'discovery.k8s.io/v1beta1', 'policy/v1beta1'])
      assert.ok(!shown.includes(version), version);
    assert.equal(t.resource('policy/v1beta1/poddisruptionbudgets').type.kind, 'PodDisruptionBudget');
    assert.match(
      t.resource('batch/v1beta1/cronjobs').warning ?? '',
      /^batch\/v1beta1 CronJob is deprecated in v1.21\+, unavailable in v1.25\+; use batch\/v1 CronJob$/,
    );
  });

  test('are the same objects', async () => {
    await using t = await openTestRegistry();
    await t.create('batch/v1beta1/cronjobs', { ...NAMES, spec: { schedule: '* * * * *', jobTemplate: TEMPLATE } });
    const today = await t.get('batch/v1/cronjobs', 'x');
    const old = await t.get('batch/v1beta1/cronjobs', 'x');
    assert.deepEqual([today.apiVersion, old.apiVersion], ['batch/v1', 'batch/v1beta1']);
    assert.deepEqual(old.spec, today.spec);
    const target = { kind: 'Deployment', name: 'w', apiVersion: 'apps/v1' };
    await t.create('autoscaling/v1/horizontalpodautoscalers', {
      ...NAMES,
      spec: { scaleTargetRef: target, maxReplicas: 3, targetCPUUtilizationPercentage: 55 },
    });
    const hpa = await t.get('autoscaling/v2beta2/horizontalpodautoscalers', 'x');
    assert.equal(hpa.apiVersion, 'autoscaling/v2beta2');
    assert.deepEqual((hpa.spec as { metrics: object[] }).metrics, [
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 55 } } },
    ]);
  });

  test('keep what an empty selector of a budget means', async () => {
    await using t = await openTestRegistry();
    const selectorOf = async (version: string, name: string) =>
      ((await t.get(`policy/${version}/poddisruptionbudgets`, name)).spec as { selector?: object }).selector;
    const create = (version: string, name: string) =>
      t.create(`policy/${version}/poddisruptionbudgets`, {
        metadata: { name },
        spec: { selector: {}, minAvailable: 1 },
      });
    await create('v1beta1', 'none');
    await create('v1', 'all');
    const key = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match';
    assert.deepEqual(await selectorOf('v1beta1', 'none'), {});
    assert.deepEqual(await selectorOf('v1', 'none'), { matchExpressions: [{ key, operator: 'Exists' }] });
    assert.deepEqual(await selectorOf('v1', 'all'), {});
    assert.deepEqual(await selectorOf('v1beta1', 'all'), { matchExpressions: [{ key, operator: 'DoesNotExist' }] });
  });

  test('say node and zone of an endpoint by its topology', async () => {
    await using t = await openTestRegistry();
    const topology = { 'kubernetes.io/hostname': 'n', 'topology.kubernetes.io/zone': 'z', x: 'y' };
    await t.create('discovery.k8s.io/v1beta1/endpointslices', {
      ...NAMES,
      addressType: 'IPv4',
      endpoints: [{ addresses: ['192.0.2.1'], topology }],
    });
    const today = await t.get('discovery.k8s.io/v1/endpointslices', 'x');
    assert.deepEqual(today.endpoints, [
      { addresses: ['192.0.2.1'], nodeName: 'n', zone: 'z', deprecatedTopology: { x: 'y' } },
    ]);
    const old = await t.get('discovery.k8s.io/v1beta1/endpointslices', 'x');
    assert.deepEqual(old.endpoints, [{ addresses: ['192.0.2.1'], nodeName: 'n', topology }]);
    const bad = { ...NAMES, addressType: 'IPv4', endpoints: [{ addresses: [] }] };
    await assert.rejects(
      t.create('discovery.k8s.io/v1beta1/endpointslices', bad, { dryRun: true }),
      /must contain at least 1 address/,
    );
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { patch, refused, remove } from '../../compose/testing/test-registry.ts';
import { type Amounts, configMap, PODS, pod, QUOTAS, usedOf, withControllers } from './testing/quota-trial.ts';

test('gives back what goes, and what ends', async () => {
  await using t = await withControllers();
  await t.create(QUOTAS, { metadata: { name: 'q' }, spec: { hard: { pods: '2', 'count/pods': '5' } } });
  await t.settled();
  for (const name of ['a', 'b']) await t.create(PODS, pod(name));
  await refused(t.create(PODS, pod('c')), 403, /exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2$/);
  await remove(t, PODS, 'a');
  await patch(t, PODS, 'b', { status: { phase: 'Succeeded' } }, 'merge', { subresource: 'status' });
  await t.settled();
  assert.deepEqual(await usedOf(t), { pods: '0', 'count/pods': '1' });
});

test('follows a change of what is bounded', async () => {
  await using t = await withControllers();
  await t.create('v1/configmaps', configMap('a'));
  await t.create(QUOTAS, { metadata: { name: 'q' }, spec: { hard: { configmaps: '5' } } });
  await t.settled();
  await patch(t, QUOTAS, 'q', { spec: { hard: { configmaps: null, 'count/configmaps': '1' } } });
  await t.settled();
  const status = (await t.get(QUOTAS, 'q')).status as Amounts;
  assert.deepEqual(status, { hard: { 'count/configmaps': '1' }, used: { 'count/configmaps': '1' } });
});

test('counts custom resources, once there are any', async () => {
  await using t = await withControllers();
  await t.create(QUOTAS, { metadata: { name: 'q' }, spec: { hard: { 'count/things.example.com': '1' } } });
  await t.settled();
  assert.equal(await usedOf(t), undefined);
  await t.create('apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  const isServed = (): void => {
    if (t.registry.find('example.com', 'v1', 'things')) resolve();
  };
  t.registry.onChange(isServed);
  isServed();
  await promise;
  await t.settled();
  const thing = (name: string): KubeObject => ({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name } });
  await t.create('example.com/v1/things', thing('a'));
  assert.deepEqual(await usedOf(t), { 'count/things.example.com': '1' });
  await refused(
    t.create('example.com/v1/things', thing('b')),
    403,
    'things.example.com "b" is forbidden: exceeded quota: q, requested: count/things.example.com=1, used: count/things.example.com=1, limited: count/things.example.com=1',
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isStatusError, type KubeObject } from '@asterism/machinery';
import { openTestRegistry } from '../compose/testing/test-registry.ts';

function many(count: number, prefix: string): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, 'v']));
}

function nodePorts(name: string, count: number): KubeObject {
  const ports = Array.from({ length: count }, (_, index) => ({ name: `p${index}`, port: index + 1 }));
  return { metadata: { name }, spec: { type: 'NodePort', ports } };
}

test('hundreds of thousands of unknown fields and faults are told', async () => {
  await using t = await openTestRegistry();
  await t.create('v1/configmaps', { metadata: { name: 'a' }, ...many(200_000, 'k') });
  await assert.rejects(
    t.create('v1/configmaps', { metadata: { name: 'b' }, data: many(150_000, '?') }),
    (error) => isStatusError(error) && error.code === 422,
  );
});

test('thousands of owners that all control an object are refused without filling the memory', async () => {
  await using t = await openTestRegistry();
  const owner = (_: unknown, index: number) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    name: 'a',
    uid: `u${index}`,
    controller: true,
  });
  const ownerReferences = Array.from({ length: 15_000 }, owner);
  await assert.rejects(t.create('v1/configmaps', { metadata: { name: 'a', ownerReferences } }), (error) => {
    assert.ok(isStatusError(error) && error.code === 422);
    return /ownerReferences: Invalid value: .*: Only one reference can have Controller set to true/s.test(
      error.message,
    );
  });
});

test('a patch that makes a number of the kind is refused', async () => {
  await using t = await openTestRegistry();
  await t.create('v1/configmaps', { metadata: { name: 'a' } });
  const ref = { namespace: 'default', name: 'a' };
  for (const field of ['kind', 'apiVersion']) {
    const work = t.registry.patch(
      t.resource('v1/configmaps'),
      ref,
      { type: 'merge', body: { [field]: 5 } },
      t.context(),
    );
    await assert.rejects(work, (error) => isStatusError(error) && error.code === 422);
    const body = { apiVersion: 'v1', kind: 'ConfigMap', [field]: 5 };
    const context = t.context({ fieldManager: 'm' });
    const apply = t.registry.patch(t.resource('v1/configmaps'), ref, { type: 'apply', body, force: false }, context);
    await assert.rejects(apply, (error) => isStatusError(error) && error.code === 400);
  }
});

test('ports of one Service never collide, and one that gets too few gives back what it had', async () => {
  await using t = await openTestRegistry();
  await assert.rejects(t.create('v1/services', nodePorts('too-many', 3_000)), /a nodePort: range is full/);
  const { spec } = await t.create('v1/services', nodePorts('many', 500));
  const { ports } = spec as { ports: { nodePort: number }[] };
  assert.equal(new Set(ports.map(({ nodePort }) => nodePort)).size, 500);
});

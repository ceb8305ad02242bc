import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject, ManagedFieldsEntry } from '@asterism/machinery';
import { openTestRegistry, type TestRegistry } from '../compose/testing/test-registry.ts';

const DEPLOYMENTS = 'apps/v1/deployments';
const ref = { namespace: 'default', name: 'web' };
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const DEPLOYMENT = {
  metadata: { name: 'web' },
  spec: { replicas: 1, selector: { matchLabels: { a: 'b' } }, template },
} as KubeObject;
const SCALE = { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: { name: 'web' }, spec: { replicas: 3 } };

function owners(
  object: KubeObject,
): [manager: string | undefined, subresource: string | undefined, replicas: boolean][] {
  const entries: readonly ManagedFieldsEntry[] = object.metadata?.managedFields ?? [];
  return entries.map(({ manager, subresource, fieldsV1 }) => [
    manager,
    subresource,
    JSON.stringify(fieldsV1).includes('"f:replicas":{}'),
  ]);
}

async function patchScale(t: TestRegistry, body: unknown, type: 'merge' | 'apply', fieldManager = 'scaler') {
  const context = t.context({ namespace: 'default', subresource: 'scale', fieldManager });
  return (await t.registry.patch(t.resource(DEPLOYMENTS), ref, { type, body }, context)).stored.parse();
}

describe('a write of a scale', () => {
  for (const [name, body, type] of [
    ['patched', { spec: { replicas: 3 } }, 'merge'],
    ['applied with force', SCALE, 'apply'],
  ] as const) {
    test(`takes the replicas from who had them: ${name}`, async () => {
      await using t = await openTestRegistry();
      await t.create(DEPLOYMENTS, DEPLOYMENT);
      const context = t.context({ namespace: 'default', subresource: 'scale', fieldManager: 'scaler' });
      await t.registry.patch(
        t.resource(DEPLOYMENTS),
        ref,
        { type, body, ...(type === 'apply' ? { force: true } : {}) },
        context,
      );
      const web = await t.get(DEPLOYMENTS, 'web');
      assert.equal((web.spec as { replicas: number }).replicas, 3);
      assert.deepEqual(
        owners(web).toSorted(([a = ''], [b = '']) => a.localeCompare(b)),
        [
          ['scaler', 'scale', true],
          ['test', undefined, false],
        ],
      );
    });
  }

  test("is a conflict where it is an apply and the replicas are another one's", async () => {
    await using t = await openTestRegistry();
    await t.create(DEPLOYMENTS, DEPLOYMENT);
    await assert.rejects(
      patchScale(t, SCALE, 'apply'),
      /conflict with "test" .*using autoscaling\/v1: \.spec\.replicas/,
    );
  });

  test('shows no owners, and no replicas where there are none', async () => {
    await using t = await openTestRegistry();
    await t.create(DEPLOYMENTS, DEPLOYMENT);
    const scale = await patchScale(t, { spec: { replicas: null } }, 'merge');
    assert.equal(scale.metadata?.managedFields, undefined);
    assert.deepEqual(scale.spec, {});
  });

  test('of what is no Scale any more is refused as a patch is', async () => {
    await using t = await openTestRegistry();
    await t.create(DEPLOYMENTS, DEPLOYMENT);
    await assert.rejects(
      patchScale(t, { spec: { replicas: 'x' } }, 'merge'),
      /is invalid: patch: Invalid value: .*cannot unmarshal string into Go struct field ScaleSpec\.spec\.replicas of type int32/,
    );
  });
});

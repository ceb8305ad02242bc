import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ObjectMeta } from '@asterism/machinery';
import { openTestRegistry, patch, refused, type TestRegistry } from '../compose/testing/test-registry.ts';

const PLACE = 'v1/configmaps';
const REF = { namespace: 'default', name: 'a' };

async function terminating(): Promise<TestRegistry> {
  const t = await openTestRegistry();
  await t.create(PLACE, { metadata: { name: 'a', finalizers: ['example.com/x'] } });
  await t.registry.delete(t.resource(PLACE), REF, {}, t.context());
  return t;
}

test('the time of a deletion stays as it is, whatever an update says', async () => {
  await using t = await terminating();
  const before = (await t.get(PLACE, 'a')).metadata;
  for (const deletionTimestamp of ['2001-01-01T00:00:00Z', null]) {
    await patch(t, PLACE, 'a', { metadata: { deletionTimestamp, deletionGracePeriodSeconds: null } });
  }
  assert.deepEqual((await t.get(PLACE, 'a')).metadata, before);
  const longer = { metadata: { deletionGracePeriodSeconds: 5 } };
  await refused(patch(t, PLACE, 'a', longer), 422, /metadata.deletionGracePeriodSeconds: .* 5: field is immutable/);
});

test('a dry run of a deletion that waits shows the mark, and leaves none', async () => {
  await using t = await openTestRegistry();
  await t.create(PLACE, { metadata: { name: 'a', finalizers: ['example.com/x'] } });
  const { stored } = await t.registry.delete(t.resource(PLACE), REF, {}, t.context({ dryRun: true }));
  assert.ok(stored?.parse().metadata?.deletionTimestamp);
  assert.equal((await t.get(PLACE, 'a')).metadata?.deletionTimestamp, undefined);
});

test('a grace period that ends after all times is cut, and can be shortened', async () => {
  await using t = await openTestRegistry({ clock: () => Date.parse('2026-01-02T03:04:05Z') });
  const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] };
  await t.create('v1/pods', { metadata: { name: 'a' }, spec });
  const remove = async (gracePeriodSeconds: number): Promise<ObjectMeta | undefined> => {
    const { stored } = await t.registry.delete(t.resource('v1/pods'), REF, { gracePeriodSeconds }, t.context());
    return stored?.parse().metadata;
  };
  for (const seconds of [Number.MAX_SAFE_INTEGER, 1e30]) {
    assert.equal((await remove(seconds))?.deletionTimestamp, '9999-12-31T23:59:59Z');
  }
  const shortened = await remove(30);
  assert.deepEqual([shortened?.deletionTimestamp, shortened?.deletionGracePeriodSeconds], ['2026-01-02T03:04:35Z', 30]);
});

test('what a client writes into managedFields must be readable', async () => {
  await using t = await openTestRegistry();
  await t.create(PLACE, { metadata: { name: 'a' }, data: { a: '1' } });
  const write = (entry: object): Promise<unknown> => {
    const value = [
      {
        manager: 'x',
        operation: 'Update',
        apiVersion: 'v1',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { 'f:a': {} } },
        ...entry,
      },
    ];
    return patch(t, PLACE, 'a', [{ op: 'add', path: '/metadata/managedFields', value }], 'json');
  };
  const at = /metadata\.managedFields\[0\]\./.source;
  const rows: [entry: object, message: string][] = [
    [{ manager: 'x'.repeat(129) }, 'manager: Too long: may not be more than 128 bytes'],
    [{ manager: 'é\n' }, 'manager: Invalid value: "é\\\\n": invalid character U\\+000A \\(at position 2\\)'],
    [{ subresource: 's'.repeat(257) }, 'subresource: Too long: may not be more than 256 bytes'],
  ];
  for (const [entry, message] of rows) await refused(write(entry), 422, new RegExp(at + message));
  await write({ manager: 'x'.repeat(128), subresource: 'status' });
});

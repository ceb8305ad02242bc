import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { createSqliteStorage } from '../storage/sqlite-storage.ts';
import { names, openTestRegistry, refused, type TestRegistry } from '../compose/testing/test-registry.ts';
import type { AdmissionStep } from '../contract/admission-step.ts';

let folder = '';
before(async () => (folder = await mkdtemp(join(tmpdir(), 'asterism-'))));
after(() => rm(folder, { recursive: true }));

function apply(t: TestRegistry, object: KubeObject, manager: string) {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', ...object };
  const ref = { namespace: 'default', name: object.metadata?.name ?? '' };
  const patch = { type: 'apply', body, force: false } as const;
  return t.registry.patch(t.resource('v1/configmaps'), ref, patch, t.context({ ...ref, fieldManager: manager }));
}

test('of those who create the same object at once, one creates it and the others change it', async () => {
  await using t = await openTestRegistry({ storage: createSqliteStorage({ file: join(folder, 'applies.db') }) });
  const applied = await Promise.all(
    ['x', 'y', 'z'].map((key) => apply(t, { metadata: { name: 'a' }, data: { [key]: '1' } }, key)),
  );
  assert.equal(applied.filter(({ created }) => created).length, 1);
  assert.deepEqual((await t.get('v1/configmaps', 'a')).data, { x: '1', y: '1', z: '1' });
  const leases = t.resource('coordination.k8s.io/v1/leases');
  const put = (holderIdentity: string) =>
    t.registry.update(
      leases,
      { namespace: 'default', name: 'l' },
      { metadata: { name: 'l' }, spec: { holderIdentity } },
      t.context({ namespace: 'default' }),
    );
  // As upstream: whoever comes second says no version of what is there now.
  const puts = await Promise.allSettled([put('a'), put('b')]);
  const rejected = puts.filter((each) => each.status === 'rejected');
  assert.equal(rejected.length, 1);
  await refused(Promise.reject(rejected[0]?.reason), 422, /resourceVersion/);
});

test('an apply of what is missing with a resourceVersion that is no number is refused', async () => {
  await using t = await openTestRegistry();
  await refused(apply(t, { metadata: { name: 'a', resourceVersion: 'abc' } }, 'm'), 500, /strconv.ParseUint.*"abc"/);
});

test('nothing is created in a namespace that began to go while it was admitted', async () => {
  const admission: AdmissionStep[] = [];
  await using t = await openTestRegistry({ admission });
  const namespaces = t.resource('v1/namespaces');
  await t.create('v1/namespaces', { metadata: { name: 'demo' } });
  admission.push({
    async admit({ name, object }) {
      if (name === 'late') await t.registry.delete(namespaces, { name: 'demo' }, {}, t.context());
      return object;
    },
  });
  const late = { metadata: { name: 'late', namespace: 'demo' } };
  await refused(t.create('v1/configmaps', late), 403, /it is being terminated/);
  assert.deepEqual(names((await t.registry.list(t.resource('v1/configmaps'), { namespace: 'demo' })).items), []);
});

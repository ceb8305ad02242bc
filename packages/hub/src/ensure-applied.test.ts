import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer } from '@asterism/apiserver/testing';
import { CONFIG_MAPS } from '@asterism/machinery';
import { contains, ensureApplied } from './ensure-applied.ts';

test('what is there already', () => {
  const live = { a: 1, list: [{ name: 'x', more: 1 }], deep: { b: 'c', d: 'e' } };
  for (const [wanted, verdict] of [
    [{}, true],
    [{ deep: { b: 'c' } }, true],
    [{ list: [{ name: 'x' }] }, true],
    [{ list: [] }, false],
    [{ list: [{ name: 'y' }] }, false],
    [{ deep: { b: 'x' } }, false],
    [{ f: 1 }, false],
    [{ a: { b: 1 } }, false],
  ] as const) {
    assert.equal(contains(live, wanted), verdict, JSON.stringify(wanted));
  }
});

test('is written where it differs, and not where it does not', async () => {
  await using server = await startTestServer();
  const wanted = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: 'default' },
    data: { k: 'v' },
  };
  const maps = server.client.resource(CONFIG_MAPS);
  const ensure = (): Promise<boolean> => ensureApplied(server.client, CONFIG_MAPS, wanted);
  assert.equal(await ensure(), true);
  const { metadata } = await maps.get({ namespace: 'default', name: 'a' });
  assert.equal(await ensure(), false);
  await maps.patch({ namespace: 'default', name: 'a' }, { type: 'merge', body: { data: { k: 'w', other: 'o' } } });
  assert.equal(await ensure(), true);
  const mended = await maps.get({ namespace: 'default', name: 'a' });
  assert.deepEqual(mended.data, { k: 'v', other: 'o' });
  assert.equal(mended.metadata?.uid, metadata?.uid);
});

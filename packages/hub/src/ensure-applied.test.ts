import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer } from '@asterism/apiserver/testing';
import { API_SERVICES, CONFIG_MAPS } from '@asterism/machinery';
import { aggregatedObjects } from './aggregated-objects.ts';
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
    [{ f: undefined }, true],
    [{ a: undefined }, false],
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

test('an APIService that somebody told to trust anybody trusts the hub alone again', async () => {
  await using server = await startTestServer();
  const [wanted] = aggregatedObjects({ host: 'hub.example', port: 7443, ca: 'CA' }).apiServices;
  assert.ok(wanted);
  const services = server.client.resource(API_SERVICES);
  const ensure = (): Promise<boolean> => ensureApplied(server.client, API_SERVICES, wanted);
  assert.equal(await ensure(), true);
  const ref = { name: wanted.metadata?.name ?? '' };
  await services.patch(ref, { type: 'merge', body: { spec: { caBundle: null, insecureSkipTLSVerify: true } } });
  assert.equal(await ensure(), true);
  const { spec } = await services.get(ref);
  assert.deepEqual([spec?.insecureSkipTLSVerify, spec?.caBundle], [undefined, wanted.spec?.caBundle]);
  assert.equal(await ensure(), false);
});

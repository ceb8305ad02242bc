import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyJsonPatch, applyMergePatch, type KubeObject } from '@asterism/machinery';
import { patchedText } from './patched-text.ts';
import type { Patch } from './registry.ts';
import { ServedVersion } from './served-version.ts';
import { openTestRegistry } from '../compose/testing/test-registry.ts';

const LIVE: KubeObject = {
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { labels: { b: '1', a: '<>' }, name: 'c', uid: 'u', finalizers: ['x/y'], namespace: 'n' },
  data: { b: '1', a: '2' },
} as KubeObject;

async function text(patch: Patch): Promise<string> {
  await using t = await openTestRegistry();
  const configMaps = t.resource('v1/configmaps');
  assert.ok(configMaps instanceof ServedVersion);
  const patched = (patch.type === 'json' ? applyJsonPatch : applyMergePatch)(LIVE, patch.body) as KubeObject;
  return patchedText(configMaps, LIVE, patched, patch);
}

const METADATA = '{"name":"c","namespace":"n","uid":"u","labels":{"a":"<>","b":"1"},"finalizers":["x/y"]}';

test('what a JSON patch leaves alone is in the order of Go, what it reaches into sorted, what it brings as it came', async () => {
  const body = [{ op: 'add', path: '/data/z', value: { y: 1, x: 2 } }];
  assert.equal(
    await text({ type: 'json', body }),
    `{"apiVersion":"v1","data":{"a":"2","b":"1","z":{"y":1,"x":2}},"kind":"ConfigMap","metadata":${METADATA}}`,
  );
});

test('what a merge patch brings is sorted', async () => {
  assert.equal(
    await text({ type: 'merge', body: { data: { z: { y: 1, x: 2 } } } }),
    `{"apiVersion":"v1","data":{"a":"2","b":"1","z":{"x":2,"y":1}},"kind":"ConfigMap","metadata":${METADATA}}`,
  );
});

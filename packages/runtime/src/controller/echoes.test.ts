import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject, ResourceType } from '@asterism/machinery';
import { Echoes } from './echoes.ts';
import type { Request } from './reconcile.ts';

const PODS: ResourceType = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };
const NODES: ResourceType = { group: '', version: 'v1', resource: 'nodes', kind: 'Node', namespaced: false };
const WEB: Request = { cluster: '', name: 'web' };
const DB: Request = { cluster: '', name: 'db' };

const pod = (resourceVersion: string): KubeObject => ({ metadata: { namespace: 'n', name: 'a', resourceVersion } });
const write = (resourceVersion: string, cluster = '') => ({
  cluster,
  version: { type: PODS, key: 'n/a', resourceVersion, labels: undefined },
});

/** What a reconcile of `WEB` wrote, after what it heard meanwhile. */
function afterWriting(resourceVersion: string, heard: readonly string[] = []): { echoes: Echoes; again: boolean } {
  const echoes = new Echoes();
  echoes.begin(WEB);
  for (const version of heard) assert.equal(echoes.asks(WEB, '', PODS, pod(version)), false);
  echoes.wrote(WEB, write(resourceVersion));
  return { echoes, again: echoes.end(WEB) };
}

test('the event of a write that comes after the reconcile asks for nothing, once', () => {
  const { echoes, again } = afterWriting('5');
  assert.equal(again, false);
  assert.equal(echoes.asks(WEB, '', PODS, pod('5')), false);
  assert.equal(echoes.asks(WEB, '', PODS, pod('5')), true);
});

test('one that comes before the answer to the write is judged at the end', () => {
  assert.equal(afterWriting('5', ['5']).again, false);
  assert.equal(afterWriting('5', ['4', '5']).again, true);
  assert.equal(afterWriting('5', ['6']).again, true);
});

test('it asks for other requests, and so do events of other versions, kinds and clusters', () => {
  const { echoes } = afterWriting('5');
  assert.equal(echoes.asks(DB, '', PODS, pod('5')), true);
  assert.equal(echoes.asks(WEB, '', PODS, pod('6')), true);
  assert.equal(echoes.asks(WEB, '', NODES, pod('5')), true);
  assert.equal(echoes.asks(WEB, 'paris', PODS, pod('5')), true);
});

test('writes whose events never come are forgotten when there are very many', () => {
  const { echoes } = afterWriting('5');
  echoes.begin(DB);
  for (let version = 100; version < 10_100; version++) echoes.wrote(DB, write(String(version)));
  echoes.end(DB);
  assert.equal(echoes.asks(WEB, '', PODS, pod('5')), true);
  assert.equal(echoes.asks(DB, '', PODS, pod('10099')), false);
});

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createClient, createTransport, type HttpTransport, type ListLimits } from '@asterism/client';
import { ManualClock } from '@asterism/client/testing';
import type { KubeObject, ResourceType } from '@asterism/machinery';
import { EngagedCluster } from '../cluster/cluster.ts';
import type { Informer } from './informer.ts';
import { silentLogger } from '../log/logger.ts';
import { FakeApi } from '../testing/fake-api.ts';

const PODS: ResourceType = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };
const NODES: ResourceType = { group: '', version: 'v1', resource: 'nodes', kind: 'Node', namespaced: false };
const ALL_PODS = '/api/v1/pods';
const ALL_NODES = '/api/v1/nodes';
const LIMITS: ListLimits = { maxPages: 10, maxObjects: 4, maxBytes: 4_000 };

const pod = (name: string, bytes = 0): KubeObject => ({
  metadata: { name, namespace: 'n' },
  data: { x: 'x'.repeat(bytes) },
});

let api: FakeApi;
let clock: ManualClock;
let cluster: EngagedCluster;
let transport: HttpTransport;
let warnings: string[];

beforeEach(async () => {
  api = await FakeApi.start();
  clock = new ManualClock();
  transport = createTransport({ server: api.url, credential: { kind: 'none' } });
  const client = createClient({ transport, listLimits: LIMITS });
  warnings = [];
  const warn = (_: object, message: string): void => void warnings.push(message);
  cluster = new EngagedCluster('birch', client, { clock, random: () => 0, logger: { ...silentLogger, warn } });
});

afterEach(async () => {
  await cluster.cache.stop();
  await transport.close();
  await api[Symbol.asyncDispose]();
});

async function follow(type: ResourceType): Promise<Informer> {
  const informer = cluster.cache.informer(type);
  await informer.synced();
  const { resource } = type;
  await api.called(({ watch, path }) => watch && path.endsWith(resource));
  return informer;
}

/** Resolves when the store of an informer is as `matches` says. */
async function until(informer: Informer, matches: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const check = (): void => (matches() ? resolve() : undefined);
  const registration = informer.addHandler({ onAdd: check, onUpdate: check, onDelete: check });
  check();
  await promise;
  registration.remove();
}

const keys = ({ store }: Informer): string => store.keys().join(' ');

describe('an informer holds no more than a list may have', () => {
  beforeEach(() => {
    api.put(ALL_PODS, pod('a'));
    cluster.cache.start(new AbortController().signal);
  });

  test('of objects: the watch fails, other kinds go on, and a new list follows', async () => {
    const pods = await follow(PODS);
    const nodes = await follow(NODES);
    for (const name of ['b', 'c', 'd', 'e', 'f']) api.put(ALL_PODS, pod(name));
    const delay = await clock.timer((ms) => ms === 800);
    assert.equal(keys(pods), 'n/a n/b n/c n/d');
    assert.equal(pods.status.code, 'ERR_READ_LIMIT');
    assert.match(pods.status.message ?? '', /^pods sent more than 4 objects .*: delete objects/);
    assert.deepEqual(warnings, [`what changes is not seen any more: ${pods.status.message}`]);
    api.put(ALL_NODES, { metadata: { name: 'node' } });
    await until(nodes, () => nodes.store.size === 1);
    assert.equal(nodes.status.failures, 0);
    nodes.release();
    assert.equal(cluster.health(), 'Stale', 'the server answers');
    for (const name of ['a', 'b', 'c']) api.remove(ALL_PODS, name, 'n');
    clock.advance(delay);
    await until(pods, () => keys(pods) === 'n/d n/e n/f');
  });

  test('of bytes, also by an object that grows; one that shrinks or is deleted makes room', async () => {
    const pods = await follow(PODS);
    api.put(ALL_PODS, pod('b', 2_500));
    await until(pods, () => keys(pods) === 'n/a n/b');
    api.put(ALL_PODS, pod('b'));
    api.put(ALL_PODS, pod('c', 2_500));
    await until(pods, () => keys(pods) === 'n/a n/b n/c');
    api.remove(ALL_PODS, 'c', 'n');
    api.put(ALL_PODS, pod('d', 2_500));
    await until(pods, () => keys(pods) === 'n/a n/b n/d');
    api.put(ALL_PODS, pod('a', 2_500));
    await clock.timer((ms) => ms === 800);
    assert.match(pods.status.message ?? '', /^pods sent more than 4000 bytes of objects/);
    assert.deepEqual(pods.store.get('n/a')?.['data'], { x: '' });
  });
});

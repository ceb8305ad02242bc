import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startTestServer } from '@asterism/apiserver/testing';
import { ClientError, createClient, systemClock } from '@asterism/client';
import { CONFIG_MAPS, SECRETS } from '@asterism/machinery';
import { EngagedCluster } from './cluster.ts';
import { silentLogger } from '../log/logger.ts';

/** A cluster whose calls go where the test says, or nowhere. No knock is ever answered. */
async function newCluster() {
  const server = await startTestServer();
  const { transport } = server.client;
  let isCut = true;
  const lost = new Set<string>();
  const detours = new Map<string, string>();
  const request = async (call: Parameters<typeof transport.request>[0]) => {
    const kind = call.path.split('/').at(-1)?.split('?')[0] ?? '';
    if (lost.has(kind)) return await new Promise<never>((_, reject) => call.signal?.addEventListener('abort', reject));
    if (isCut || kind === 'readyz') throw new ClientError('the line is cut', { code: 'ECONNREFUSED' });
    const path = detours.get(kind) ?? call.path;
    detours.delete(kind);
    return await transport.request({ ...call, path });
  };
  const client = createClient({ transport: { ...transport, request } as typeof transport });
  const cluster = new EngagedCluster('east', client, { clock: systemClock, random: () => 0, logger: silentLogger });
  const stop = new AbortController();
  cluster.cache.informer(CONFIG_MAPS);
  cluster.cache.start(stop.signal);
  while (cluster.health() !== 'Unreachable') await new Promise(setImmediate);
  let returns = 0;
  const returned = new Promise<void>((resolve) => {
    cluster.onReturn(() => {
      returns++;
      resolve();
    });
  });
  return {
    cluster,
    returned,
    returns: () => returns,
    /** What is asked of this kind from now on has no answer, and no failure either. */
    lose: (kind: string) => void lost.add(kind),
    /** The next call for this kind goes to that path. */
    detour: (kind: string, path: string) => void detours.set(kind, path),
    mend() {
      isCut = false;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await cluster.cache.stop();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe('who waits for a cluster hears that it is back, once,', () => {
  for (const [where, refused] of [
    ['where a watch has tried before a knock did'],
    ['where a refusal comes first', '/no'],
  ])
    test(`${where}`, async () => {
      await using world = await newCluster();
      if (refused !== undefined) world.detour('configmaps', refused);
      world.mend();
      await world.returned;
      while (world.cluster.health() !== 'Connected') await new Promise(setImmediate);
      assert.equal(world.returns(), 1);
    });

  test('where a watch that has just begun waits for its first answer', async () => {
    await using world = await newCluster();
    world.lose('secrets');
    world.cluster.cache.informer(SECRETS);
    assert.equal(world.cluster.health(), 'Unreachable');
    world.mend();
    await world.returned;
    while (world.cluster.health() !== 'Connected') await new Promise(setImmediate);
    assert.equal(world.returns(), 1);
  });

  test('where such a watch has the first answer', async () => {
    await using world = await newCluster();
    world.lose('configmaps');
    world.mend();
    world.cluster.cache.informer(SECRETS);
    await world.returned;
    while (world.cluster.health() !== 'Stale') await new Promise(setImmediate);
    assert.equal(world.returns(), 1);
  });
});

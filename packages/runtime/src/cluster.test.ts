import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer } from '@asterism/apiserver/testing';
import { ClientError, createClient, systemClock } from '@asterism/client';
import { CONFIG_MAPS } from '@asterism/machinery';
import { EngagedCluster } from './cluster.ts';
import { silentLogger } from './logger.ts';

const answers: Record<string, string | undefined> = {
  'where a watch has tried before a knock did': undefined,
  'where the first answer to a watch is a refusal': '/apis/no.such.group',
};
for (const [where, refused] of Object.entries(answers))
  test(`who waits for a cluster hears that it is back, also ${where}`, async () => {
    await using server = await startTestServer();
    const { transport } = server.client;
    let isCut = true;
    let elsewhere = refused;
    const request = async (call: Parameters<typeof transport.request>[0]) => {
      if (isCut || call.path === '/readyz') throw new ClientError('the line is cut', { code: 'ECONNREFUSED' });
      if (!call.path.includes('configmaps')) return await transport.request(call);
      const path = elsewhere ?? call.path;
      elsewhere = undefined;
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
    isCut = false;
    await returned;
    while (cluster.health() !== 'Connected') await new Promise(setImmediate);
    assert.equal(returns, 1);
    stop.abort();
    await cluster.cache.stop();
  });

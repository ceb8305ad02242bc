import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { startTestServer } from '@asterism/apiserver/testing';
import { type Clock, createClient, systemClock, type Transport } from '@asterism/client';
import { createManager, type Logger, silentLogger } from '@asterism/runtime';
import { addNodeHeartbeat } from './node-heartbeat.ts';

const SHAPE = { name: 'node-1', cpu: '4', memory: '16Gi', pods: 110 };

/** Every wait is over at once. */
const hasty: Clock = { ...systemClock, setTimer: (callback, _, options) => systemClock.setTimer(callback, 0, options) };

test('nodes whose heartbeat a full disk refuses are heard again, and say so once', async () => {
  await using server = await startTestServer();
  const { transport } = server.client;
  const renewed = Promise.withResolvers<void>();
  let refusals = 0;
  const full: Transport = {
    ...transport,
    upgrade: (request) => transport.upgrade(request),
    request: async (request) => {
      const renews = request.method === 'PATCH' && request.path.includes('/leases/');
      if (renews && refusals < 3) {
        refusals++;
        const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'no space left', code: 503 };
        const headers = { 'content-type': 'application/json' };
        return { status: 503, headers, body: Readable.from([Buffer.from(JSON.stringify(status))]) };
      }
      const response = await transport.request(request);
      if (renews && response.status === 200) renewed.resolve();
      return response;
    },
  };
  const told: string[] = [];
  const logger: Logger = { ...silentLogger, child: () => logger, warn: (_, message) => told.push(message) };
  const manager = createManager({ client: createClient({ transport: full }), logger, clock: systemClock });
  addNodeHeartbeat(manager, [SHAPE], { clock: hasty, kubeletVersion: 'v1.36.2', logger });
  const abort = new AbortController();
  const running = manager.start(abort.signal);
  await Promise.race([renewed.promise, running]);
  abort.abort();
  await running;
  assert.equal(refusals, 3);
  assert.deepEqual(told, ['the heartbeat of nodes is not heard']);
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Client, ClientError } from '@asterism/client';
import { JoinError } from '@asterism/fleet/join';
import { failure, unauthorized } from '@asterism/machinery';
import { silentLogger } from '@asterism/runtime';
import { keepBeating } from './heartbeat.ts';
import { jumpingClock } from './testing/jumping-clock.ts';

/** Beats against a hub that answers with each of the outcomes in turn, then stops. */
async function run(outcomes: (Error | 'fine')[]) {
  const clock = jumpingClock();
  const stop = new AbortController();
  const told: string[] = [];
  const renewals: string[] = [];
  const tell = (_: object, message: string): void => void told.push(message);
  const left = [...outcomes];
  const hub = {
    resource: () => ({
      patch: async (_: object, { body }: { body: { spec: { renewTime: string } } }) => {
        const outcome = left.shift();
        if (left.length === 0) stop.abort();
        if (outcome instanceof Error) throw outcome;
        renewals.push(body.spec.renewTime);
      },
    }),
  } as unknown as Client;
  const logger = { ...silentLogger, info: tell, warn: tell };
  const options = {
    clusterName: 'edge-1',
    hub,
    hubServer: 'https://hub',
    holder: 'a',
    intervalMs: 10_000,
    logger,
    clock,
  };
  const error = await keepBeating(options, stop.signal).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { error, told, renewals, waits: clock.waits };
}

describe('the heartbeat', () => {
  test('renews the Lease in its interval, with microseconds as Kubernetes writes them', async () => {
    const { renewals, waits } = await run(['fine', 'fine', 'fine']);
    assert.deepEqual(
      renewals,
      [0, 10, 20].map((second) => `1970-01-01T00:00:${String(second).padStart(2, '0')}.000000Z`),
    );
    assert.deepEqual(waits, [10_000, 10_000]);
  });

  test('waits for a hub that is away, and says once that it is and once that it is back', async () => {
    const away = new ClientError('cannot reach', { code: 'ECONNREFUSED' });
    const { error, told, waits } = await run([away, away, failure(503, 'starting'), 'fine', 'fine']);
    assert.equal(error, undefined);
    assert.deepEqual(told, ['the hub does not hear the heartbeat', 'the hub hears the heartbeat again']);
    assert.deepEqual(waits, [2_000, 2_000, 2_000, 10_000]);
  });

  test('ends when the hub refuses it again and again, not when it does so while roles are being written', async () => {
    assert.equal((await run([failure(403, 'no'), failure(403, 'no'), 'fine', failure(403, 'no')])).error, undefined);
    const { error } = await run([unauthorized(), unauthorized(), unauthorized(), 'fine']);
    assert.ok(error instanceof JoinError && error.code === 'CredentialRefused', String(error));
  });
});

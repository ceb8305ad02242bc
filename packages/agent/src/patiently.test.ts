import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { JoinError } from '@asterism/fleet/join';
import { failure } from '@asterism/machinery';
import { silentLogger } from '@asterism/runtime';
import { patiently } from './patiently.ts';
import { jumpingClock } from './testing/jumping-clock.ts';

const away = new JoinError('HubUnreachable', 'nobody there');
const denied = new JoinError('Denied', 'no');

/** Fails with each of the errors in turn, then works; tells what was waited and what came of it. */
async function run(errors: Error[], patienceMs = Number.POSITIVE_INFINITY) {
  const clock = jumpingClock();
  const told: string[] = [];
  const logger = { ...silentLogger, warn: (fields: object) => void told.push((fields as { reason: string }).reason) };
  const left = [...errors];
  const patience = { clock, logger, random: () => 0, retryMs: 100, retryCapMs: 400, patienceMs };
  const attempt = async (): Promise<string> => {
    const error = left.shift();
    if (error) throw error;
    return 'joined';
  };
  const outcome = await patiently(attempt, { ...patience, signal: new AbortController().signal }).catch(
    (error: unknown) => error,
  );
  return { outcome, waits: clock.waits, told };
}

describe('patience', () => {
  test('waits longer and longer while nobody answers, and says so once', async () => {
    const { outcome, waits, told } = await run([away, away, away, away]);
    assert.equal(outcome, 'joined');
    assert.deepEqual(waits, [100, 200, 400, 400]);
    assert.deepEqual(told, ['nobody there']);
  });

  test('waits while a server is there but busy', async () => {
    const { outcome, waits } = await run([failure(503, 'starting'), failure(429, 'busy'), failure(409, 'conflict')]);
    assert.equal(outcome, 'joined');
    assert.equal(waits.length, 3);
  });

  test('does not wait for what will not change', async () => {
    for (const error of [denied, failure(403, 'no'), new TypeError('a mistake of ours')]) {
      const { outcome, waits } = await run([away, error]);
      assert.equal(outcome, error);
      assert.equal(waits.length, 1);
    }
  });

  test('ends when it is over, with the last failure', async () => {
    const { outcome, waits } = await run([away, away, away, away], 400);
    assert.equal(outcome, away);
    assert.deepEqual(waits, [100, 200]);
  });
});

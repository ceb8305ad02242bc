import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { ManualClock } from '@asterism/client/testing';
import { startHeartbeat } from './heartbeat.ts';

const HOUR_MS = 3_600_000;

/** A session of which the test says when it was last heard, by the clock that stands still, and how long its PINGs take. */
function startTrial(sparing: boolean) {
  const clock = new ManualClock();
  const began = performance.now();
  const state = { pings: 0, dead: 0, answers: true, lineMs: 0, roundTrips: [] as number[] };
  const session = {
    destroyed: false,
    heardAt: began - HOUR_MS,
    ping(onAnswer: (error: Error | null) => void) {
      state.pings += 1;
      const until = performance.now() + state.lineMs;
      while (performance.now() < until);
      if (state.answers) onAnswer(null);
    },
  };
  startHeartbeat(session, new PassThrough(), {
    intervalMs: 10_000,
    timeoutMs: 5_000,
    clock,
    sparing,
    onRoundTrip: (ms) => state.roundTrips.push(ms),
    onDead: () => (state.dead += 1),
  });
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await setImmediate();
    await setImmediate();
  };
  return { session, state, pass };
}

/** So late that at every look something has come just now. */
const HEARD = performance.now() + HOUR_MS;

test('an end that spares sends one PING in six while the other is heard', async () => {
  const { session, state, pass } = startTrial(true);
  session.heardAt = HEARD;
  await pass(10_000);
  assert.equal(state.pings, 0);
  for (let round = 0; round < 5; round++) await pass(2 * HOUR_MS);
  assert.equal(state.pings, 1);
});

test('and sends one at once where nothing came for longer than the other end waits between its own', async () => {
  const { state, pass } = startTrial(true);
  await pass(10_000);
  assert.equal(state.pings, 1);
  assert.equal(state.dead, 0);
});

for (const sparing of [true, false]) {
  test(`${sparing ? 'such an end' : 'one that does not'} finds a silent peer within the time of both`, async () => {
    const { state, pass } = startTrial(sparing);
    state.answers = false;
    await pass(10_000);
    assert.equal(state.dead, 0);
    await pass(5_000);
    assert.equal(state.dead, 1);
  });
}

test('one that does not spare sends each PING, whatever it hears', async () => {
  const { session, state, pass } = startTrial(false);
  session.heardAt = HEARD;
  await pass(10_000);
  for (let round = 2; round <= 4; round++) {
    await pass(5_000);
    await pass(5_000);
    assert.equal(state.pings, round);
  }
});

test('a round trip that took long because an end was busy is not told: the shortest of the last is', async () => {
  const { state, pass } = startTrial(false);
  await pass(10_000);
  const [first = 0] = state.roundTrips;
  state.lineMs = 30;
  for (let round = 1; round <= 5; round++) {
    await pass(5_000);
    await pass(5_000);
    assert.equal(state.roundTrips.at(-1), first);
  }
  await pass(5_000);
  await pass(5_000);
  assert.ok((state.roundTrips.at(-1) ?? 0) >= 30, 'now the line is longer');
});

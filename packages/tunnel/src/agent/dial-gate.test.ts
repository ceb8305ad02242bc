import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '@asterism/client';
import { backoff } from '@asterism/runtime';
import { DialGate } from './dial-gate.ts';

/** A clock whose timers fire when told. */
function manualClock(): Clock & { timers: { ms: number; fire: () => void }[] } {
  const timers: { ms: number; fire: () => void }[] = [];
  return {
    timers,
    wall: () => new Date(0),
    monotonic: () => 0,
    setTimer(callback, ms) {
      const timer = {
        ms,
        fire: () => {
          timers.splice(timers.indexOf(timer), 1);
          callback();
        },
      };
      timers.push(timer);
      return () => {
        if (timers.includes(timer)) timers.splice(timers.indexOf(timer), 1);
      };
    },
  };
}

function setUp(random = () => 0) {
  const clock = manualClock();
  const gate = new DialGate({ clock, backoff: backoff({ initialMs: 100, factor: 2, capMs: 300, jitter: 1, random }) });
  const signal = new AbortController();
  const passed: number[] = [];
  const pass = (rank: number): void => void gate.pass(rank, signal.signal).then((may) => may && passed.push(rank));
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { clock, gate, signal, passed, pass, settled };
}

test('the first dial is at once and by the lowest rank; the others follow when it stands', async () => {
  const { clock, gate, passed, pass, settled } = setUp();
  for (const rank of [2, 1, 3]) pass(rank);
  assert.deepEqual(
    clock.timers.map(({ ms }) => ms),
    [0],
  );
  clock.timers[0]?.fire();
  await settled();
  assert.deepEqual([passed, clock.timers.length], [[1], 0]);
  gate.succeed();
  await settled();
  assert.deepEqual(passed, [1, 2, 3]);
  pass(4);
  await settled();
  assert.deepEqual(passed, [1, 2, 3, 4], 'an open gate lets pass at once');
});

test('failures lengthen the wait up to the cap, a success resets it', async () => {
  const { clock, gate, pass, settled } = setUp();
  const waits: (number | undefined)[] = [];
  for (let i = 0; i < 5; i += 1) {
    pass(0);
    waits.push(clock.timers[0]?.ms);
    clock.timers[0]?.fire();
    await settled();
    gate.fail();
  }
  assert.deepEqual(waits, [0, 100, 200, 300, 300]);
  gate.succeed();
  gate.lose();
  pass(0);
  assert.deepEqual(
    clock.timers.map(({ ms }) => ms),
    [100],
  );
});

test('waits are jittered, so that agents which lost their hub together return apart', () => {
  const waits = [0, 0.5, 0.999].map((value) => {
    const { gate } = setUp(() => value);
    return Math.round(gate.fail());
  });
  assert.deepEqual(waits, [100, 150, 200]);
});

test('the other side may ask for a longer wait', () => {
  const { gate } = setUp();
  assert.equal(gate.fail(5_000), 5_000);
});

test('an abort lets nobody pass and leaves no timer', async () => {
  const { clock, gate, signal, settled } = setUp();
  const waiting = [gate.pass(0, signal.signal), gate.pass(1, signal.signal)];
  signal.abort();
  assert.deepEqual(await Promise.all(waiting), [false, false]);
  assert.equal(clock.timers.length, 0);
  gate.succeed();
  await settled();
  assert.equal(await gate.pass(0, signal.signal), false);
});

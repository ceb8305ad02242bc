import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Clock, completeClock, sleep, systemClock } from './clock.ts';
import { ManualClock } from './testing/index.ts';

describe('the system clock', () => {
  test('a timer longer than setTimeout allows does not fire at once, and is cancelled', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    for (const ms of [2 ** 31, 2 ** 40, Number.POSITIVE_INFINITY]) {
      let fired = 0;
      const cancel = systemClock.setTimer(() => (fired += 1), ms);
      context.mock.timers.tick(1_000);
      assert.equal(fired, 0, `${ms}`);
      cancel();
    }
    let fired = 0;
    systemClock.setTimer(() => (fired += 1), 2 ** 31 + 5_000);
    context.mock.timers.tick(2 ** 31 - 1);
    assert.equal(fired, 0);
    context.mock.timers.tick(5_001);
    assert.equal(fired, 1);
  });

  test('a very long sleep ends when its signal aborts', async () => {
    const stop = new AbortController();
    const sleeping = sleep(systemClock, 2 ** 33, stop.signal);
    stop.abort(new Error('stopped'));
    await assert.rejects(sleeping, /stopped/);
  });

  test('a duration cannot be made of the wall clock, nor mixed with it', () => {
    const clock: Clock = new ManualClock();
    // @ts-expect-error A Date is no number: subtraction is an error.
    assert.equal(typeof (clock.monotonic() - clock.wall()), 'number');
    // @ts-expect-error A Date is no number: a deadline cannot come from it.
    const deadline: number = clock.wall();
    assert.ok(deadline !== undefined);
  });
});

test('a clock that has `now` alone, from callers without type checks, still works', () => {
  const former = { now: () => 1_234, setTimer: () => () => {} } as unknown as Clock;
  const clock = completeClock(former);
  assert.equal(clock.monotonic(), 1_234);
  assert.equal(clock.wall().getTime(), 1_234);
  assert.equal(completeClock(systemClock), systemClock);
});

test('a manual clock: setting the wall clock moves no monotonic time, and fires no timer', () => {
  const clock = new ManualClock();
  const [wall, monotonic] = [clock.wall().getTime(), clock.monotonic()];
  clock.setTimer(() => assert.fail('it fired'), 60_000);
  clock.setWall(-540_000);
  assert.equal(clock.wall().getTime(), wall - 540_000);
  assert.equal(clock.monotonic(), monotonic);
  clock.advance(1_000);
  assert.equal(clock.wall().getTime(), wall - 539_000);
  assert.equal(clock.monotonic(), monotonic + 1_000);
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { keepRenewed, type Validity } from './keep-renewed.ts';
import { Refusals } from './refusals.ts';
import { ManualClock } from './testing/index.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A credential of this life on a clock that a test moves. Times are minutes of the monotonic clock since the start. */
class Run implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly renewals: number[] = [];
  readonly refusals = new Refusals();
  readonly #stop = new AbortController();
  readonly #started = this.clock.monotonic();
  readonly #lifeMs: number;
  readonly #done: Promise<void>;
  failures = 0;

  constructor(lifeMs: number, validity?: (now: number) => Validity) {
    this.#lifeMs = lifeMs;
    const { clock } = this;
    this.#done = keepRenewed(
      {
        clock,
        validity: validity?.(clock.wall().getTime()),
        renew: () => this.#renew(),
        failed: () => 5_000,
        refusals: this.refusals,
      },
      this.#stop.signal,
    );
  }

  async #renew(): Promise<Validity> {
    this.renewals.push((this.clock.monotonic() - this.#started) / MINUTE);
    if (this.failures > 0) {
      this.failures -= 1;
      throw new Error('the server is busy');
    }
    const from = this.clock.wall().getTime();
    return { from, until: from + this.#lifeMs };
  }

  /** Lets time pass, timer by timer. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; ) {
      await new Promise((resolve) => setImmediate(resolve));
      const step = Math.min(left, this.clock.pending()[0] ?? left);
      this.clock.advance(step);
      left -= step;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }
}

const fresh = (lifeMs: number) => (now: number) => ({ from: now, until: now + lifeMs });

describe('a credential is renewed', () => {
  test('after two thirds of its life; at once if there is none yet', async () => {
    await using run = new Run(HOUR);
    await run.pass(2 * HOUR);
    assert.deepEqual(run.renewals, [0, 40, 80, 120]);
  });

  test('from the life that is left, if it was issued earlier', async () => {
    await using run = new Run(HOUR, (now) => ({ from: now - 30 * MINUTE, until: now + 30 * MINUTE }));
    await run.pass(15 * MINUTE);
    assert.deepEqual(run.renewals, [10]);
  });

  test('soon after the machine wakes up, when the wall clock has gone on and timers have not', async () => {
    await using run = new Run(HOUR, fresh(HOUR));
    await run.pass(5 * MINUTE);
    run.clock.setWall(2 * HOUR);
    await run.pass(15_000);
    assert.equal(run.renewals.length, 1);
    await run.pass(39 * MINUTE);
    assert.equal(run.renewals.length, 1, 'its life begins when it wakes up');
  });

  test('on time, when the wall clock is set back', async () => {
    await using run = new Run(HOUR, fresh(HOUR));
    await run.pass(35 * MINUTE);
    run.clock.setWall(-20 * MINUTE);
    await run.pass(5 * MINUTE);
    assert.deepEqual(run.renewals, [40]);
  });

  test('soon, when the wall clock is set back to before its life began; once', async () => {
    await using run = new Run(HOUR, fresh(HOUR));
    await run.pass(5 * MINUTE);
    run.clock.setWall(-DAY);
    await run.pass(15_000);
    assert.equal(run.renewals.length, 1);
    await run.pass(39 * MINUTE);
    assert.equal(run.renewals.length, 1);
  });

  for (const lifeMs of [MINUTE, HOUR, 30 * DAY, 3_650 * DAY]) {
    test(`of ${lifeMs / MINUTE} minutes: the clock is looked at often, at least every minute`, async () => {
      await using run = new Run(lifeMs, fresh(lifeMs));
      for (let look = 0; look < 5; look += 1) {
        await run.pass(1);
        assert.ok(run.clock.pending().every((ms) => ms <= Math.min(MINUTE, lifeMs / 100)));
        await run.pass(20_000);
      }
    });
  }

  describe('when a server refuses it,', () => {
    test('at once, and then at its time', async () => {
      await using run = new Run(HOUR, fresh(HOUR));
      await run.pass(5 * MINUTE);
      run.refusals.report();
      await run.pass(41 * MINUTE);
      assert.deepEqual(run.renewals, [5, 45]);
    });

    test('at most once a minute, however often it is refused', async () => {
      await using run = new Run(HOUR, fresh(HOUR));
      for (let second = 0; second < 150; second += 1) {
        run.refusals.report();
        await run.pass(1_000);
      }
      assert.deepEqual(run.renewals, [0, 1, 2]);
    });

    test('not again for refusals of the credential before', async () => {
      await using run = new Run(HOUR, fresh(HOUR));
      run.refusals.report();
      run.refusals.report();
      await run.pass(5 * MINUTE);
      assert.deepEqual(run.renewals, [0]);
    });

    test('when `failed` says so after a failure', async () => {
      await using run = new Run(HOUR, fresh(HOUR));
      run.failures = 2;
      for (let second = 0; second < 12; second += 1) {
        run.refusals.report();
        await run.pass(1_000);
      }
      assert.deepEqual(
        run.renewals.map((minutes) => Math.round(minutes * MINUTE)),
        [0, 5_000, 10_000],
      );
    });
  });

  test('again after a failure, when that says so, even if the wall clock is set back meanwhile', async () => {
    await using run = new Run(HOUR, fresh(HOUR));
    run.failures = 2;
    await run.pass(40 * MINUTE);
    run.clock.setWall(-DAY);
    await run.pass(MINUTE);
    assert.deepEqual(
      run.renewals.map((minutes) => Math.round(minutes * MINUTE) - 40 * MINUTE),
      [0, 5_000, 10_000],
    );
  });

  test('not in a loop, where it has ended when it arrives', async () => {
    await using run = new Run(-HOUR);
    await run.pass(MINUTE);
    assert.ok(run.renewals.length <= 13, `${run.renewals.length} renewals in a minute`);
  });
});

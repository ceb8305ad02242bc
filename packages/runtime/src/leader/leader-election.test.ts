import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { ManualClock } from '@asterism/client/testing';
import { LeaderElector, LeadershipLostError } from './leader-election.ts';
import { silentLogger } from '../log/logger.ts';
import { FakeLeases } from '../testing/fake-leases.ts';

const OTHER = { holderIdentity: 'other', leaseDurationSeconds: 15, renewTime: 'then', leaseTransitions: 0 };

let leases: FakeLeases;
let time: ManualClock;
/** The time of day, which may jump. */
let wallOffset: number;
let stop: AbortController;

beforeEach(() => {
  leases = new FakeLeases();
  time = new ManualClock();
  wallOffset = 0;
  stop = new AbortController();
});

function elector(identity = 'me', formerIdentity?: string): LeaderElector {
  const clock = {
    wall: () => new Date(time.monotonic() + wallOffset),
    monotonic: () => time.monotonic(),
    setTimer: (callback: () => void, ms: number) => time.setTimer(callback, ms),
  };
  return new LeaderElector(
    { namespace: 'n', name: 'lease', identity, formerIdentity },
    { client: leases.client, clock, monotonic: () => time.monotonic(), random: () => 0, logger: silentLogger },
  );
}

/** Goes on step by step, so that what waits for an answer gets it in between. */
async function pass(ms: number): Promise<void> {
  const until = time.monotonic() + ms;
  for (;;) {
    await settled();
    const [next] = time.pending();
    if (next === undefined || time.monotonic() + next > until) break;
    time.advance(next);
  }
  time.advance(until - time.monotonic());
  await settled();
}

/** Every promise that can go on has. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Campaigns and keeps. What it says can be looked at without waiting for it. */
function run(candidate: LeaderElector) {
  const seen: { led: boolean; lost: unknown } = { led: false, lost: undefined };
  const done = (async () => {
    await candidate.campaign(stop.signal);
    seen.led = true;
    await candidate.keep(stop.signal);
  })().catch((error) => {
    seen.lost = error;
  });
  return { seen, done };
}

describe('taking the lead', () => {
  test('nobody is there: at once', async () => {
    const { seen } = run(elector());
    await settled();
    assert.equal(seen.led, true);
    assert.equal(leases.holder(), 'me');
  });

  test('a holder that says no more: when its Lease has run out by our clock, and no sooner', async () => {
    leases.write(OTHER);
    const { seen } = run(elector());
    await pass(14_999);
    assert.equal(seen.led, false);
    await pass(1);
    assert.equal(seen.led, true);
  });

  test('a holder that is known to have ended: at once; anybody else not', async () => {
    leases.write({ ...OTHER, holderIdentity: 'me before' });
    const { seen } = run(elector('me', 'me before'));
    await settled();
    assert.equal(seen.led, true);
    leases.write(OTHER);
    const other = run(elector('me', 'me before'));
    await pass(14_999);
    assert.equal(other.seen.led, false);
  });

  test('a holder that renews is never relieved, whatever time it writes', async () => {
    leases.write(OTHER);
    const { seen } = run(elector());
    for (let n = 0; n < 20; n += 1) {
      leases.write({ ...OTHER, renewTime: `1999-01-01T00:00:${n}.000000Z` });
      await pass(3_000);
    }
    assert.equal(seen.led, false);
  });

  test('our own time of day jumps: nothing comes of it', async () => {
    leases.write(OTHER);
    const { seen } = run(elector());
    await pass(1_000);
    wallOffset = 3_600_000;
    await pass(13_000);
    assert.equal(seen.led, false);
  });

  test('two at once: one', async () => {
    leases.write({});
    const both = [run(elector('a')), run(elector('b'))];
    await pass(30_000);
    assert.equal(both.filter(({ seen }) => seen.led).length, 1);
  });

  test('two of the same name: still one', async () => {
    const both = [run(elector('same')), run(elector('same'))];
    await pass(60_000);
    assert.equal(both.filter(({ seen }) => seen.led).length, 1);
  });

  test('a server that does not answer, or not well, is asked again', async () => {
    for (const fault of ['hang', 'error'] as const) {
      leases.fault = () => fault;
      const { seen } = run(elector(fault));
      await pass(30_000);
      assert.equal(seen.led, false);
      leases.fault = () => 'none';
      leases.live = undefined;
      await pass(8_000);
      assert.equal(seen.led, true);
    }
  });

  test('taken, and the answer was lost: it does not wait for itself', async () => {
    leases.fault = (verb) => (verb === 'create' ? 'lost' : 'none');
    const { seen } = run(elector());
    await pass(5_000);
    assert.deepEqual([seen.led, leases.holder()], [false, 'me']);
    leases.fault = () => 'none';
    await pass(2_000);
    assert.equal(seen.led, true);
  });
});

describe('keeping it', () => {
  test('renews every period', async () => {
    const candidate = elector();
    const { seen } = run(candidate);
    await pass(60_000);
    assert.equal(seen.lost, undefined);
    assert.equal(candidate.mayAct(), true);
    assert.equal(leases.calls.filter((verb) => verb === 'update').length, 30);
  });

  for (const fault of ['hang', 'error', 'lost'] as const) {
    test(`a server that does not answer (${fault}): over at the deadline, before anybody can take the Lease`, async () => {
      const candidate = elector();
      const { seen } = run(candidate);
      await pass(5_000); // renewed at 4,000
      leases.fault = () => fault;
      await pass(8_999);
      assert.equal(candidate.mayAct(), true);
      await pass(1);
      assert.equal(candidate.mayAct(), false);
      await settled();
      assert.ok(seen.lost instanceof LeadershipLostError, String(seen.lost));
      assert.match(seen.lost.message, /n\/lease.*10000 ms/);
    });
  }

  test('one answer that does not come leaves the time for another', async () => {
    const { seen } = run(elector());
    await pass(1_000);
    leases.fault = () => 'lost';
    await pass(6_000);
    leases.fault = () => 'none';
    await pass(20_000);
    assert.equal(seen.lost, undefined);
  });

  test('frozen for longer than the deadline: it finds out before any timer tells', async () => {
    const candidate = elector();
    run(candidate);
    await settled();
    assert.equal(candidate.mayAct(), true);
    const woken = time.monotonic() + 10_000;
    time.monotonic = () => woken;
    assert.equal(candidate.mayAct(), false);
  });

  test('another holds it: over at once', async () => {
    const { seen } = run(elector());
    await pass(1_000);
    leases.write({ ...OTHER, leaseTransitions: 1 });
    await pass(1_000);
    assert.ok(seen.lost instanceof LeadershipLostError);
    assert.match(seen.lost.message, /other holds the Lease/);
  });

  test('somebody labels the Lease: nothing', async () => {
    const { seen } = run(elector());
    await pass(1_000);
    leases.label();
    await pass(20_000);
    assert.equal(seen.lost, undefined);
    assert.deepEqual(leases.live?.metadata?.labels, { a: 'b' });
  });

  test('somebody deletes the Lease: it is made again', async () => {
    const { seen } = run(elector());
    await pass(1_000);
    leases.live = undefined;
    await pass(20_000);
    assert.deepEqual([seen.lost, leases.holder()], [undefined, 'me']);
  });

  test('somebody deletes the Lease, and another makes it anew: over', async () => {
    const { seen } = run(elector());
    await pass(1_000);
    leases.live = undefined;
    leases.fault = (verb) => {
      if (verb === 'create') leases.write(OTHER);
      return 'none';
    };
    await pass(1_000);
    assert.ok(seen.lost instanceof LeadershipLostError);
    assert.equal(leases.holder(), 'other');
  });
});

describe('letting go', () => {
  test('a released Lease is taken at the next look', async () => {
    const first = elector('first');
    const { done } = run(first);
    await settled();
    const others = new AbortController();
    const second = elector('second');
    const leads = second.campaign(others.signal);
    await pass(4_000);
    stop.abort();
    await done;
    await first.release();
    assert.equal(first.mayAct(), false);
    assert.equal(leases.holder(), undefined);
    await pass(2_000);
    await leads;
    assert.equal(leases.holder(), 'second');
    assert.equal(leases.live?.spec?.leaseTransitions, 1);
  });

  test('a renewal that was under way when it stopped does not keep the Lease', async () => {
    const candidate = elector();
    const { done } = run(candidate);
    await settled();
    leases.fault = () => 'lost';
    await pass(2_000);
    stop.abort();
    await done;
    leases.fault = () => 'none';
    await candidate.release();
    assert.equal(leases.holder(), undefined);
  });

  test('what another took meanwhile is theirs', async () => {
    const candidate = elector();
    const { done } = run(candidate);
    await settled();
    leases.write({ ...OTHER, leaseTransitions: 5 });
    stop.abort();
    await done;
    await candidate.release();
    assert.equal(leases.holder(), 'other');
  });

  test('who does not lead releases nothing; a server that does not answer holds up nobody', async () => {
    leases.write(OTHER);
    await elector().release();
    assert.equal(leases.holder(), 'other');
    leases.live = undefined;
    const candidate = elector();
    run(candidate);
    await settled();
    leases.fault = () => 'hang';
    const released = candidate.release();
    await pass(5_000);
    await released;
  });
});

test('times that do not fit are refused', () => {
  const parts = { client: leases.client, clock: time, monotonic: () => 0, random: () => 0, logger: silentLogger };
  const options = { namespace: 'n', name: 'lease', identity: 'me', renewDeadlineMs: 15_000 };
  assert.throws(() => new LeaderElector(options, parts), /retryPeriodMs < renewDeadlineMs < leaseDurationMs/);
});

for (const key of ['namespace', 'name', 'identity']) {
  test(`an empty ${key} is refused`, () => {
    const options = { namespace: 'n', name: 'leader', identity: 'me', [key]: '' };
    const parts = { client: leases.client, clock: time, monotonic: () => 0, random: () => 0, logger: silentLogger };
    assert.throws(
      () => new LeaderElector(options, parts),
      new RegExp(`^TypeError: leader election: ${key} must not be empty`),
    );
  });
}

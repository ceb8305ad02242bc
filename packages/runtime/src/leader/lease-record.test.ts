import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decideStandby, type LeaseSpec, releasedSpec, renewedSpec, type SeenLease, takenSpec } from './lease-record.ts';

const LEASE_MS = 15_000;
const held: LeaseSpec = {
  holderIdentity: 'other',
  leaseDurationSeconds: 15,
  acquireTime: '2026-11-21T10:00:00.000000Z',
  renewTime: '2026-11-21T10:00:00.000000Z',
  leaseTransitions: 3,
};
const seenAt = (at: number, spec: LeaseSpec | undefined = held, validMs = LEASE_MS): SeenLease => ({
  spec,
  at,
  validMs,
});

interface Row {
  name: string;
  spec: LeaseSpec | undefined;
  seen?: SeenLease;
  now: number;
  own?: boolean;
  act: 'Take' | 'Wait';
  forMs?: number;
}

const rows: Row[] = [
  { name: 'there is none and never was', spec: undefined, now: 0, act: 'Take' },
  { name: 'one that nobody holds', spec: {}, now: 0, act: 'Take' },
  { name: 'one that was released', spec: releasedSpec(held, 0), seen: seenAt(0), now: 1, act: 'Take' },
  { name: 'a holder at first sight, however old its times are', spec: held, now: 50, act: 'Wait', forMs: 15_000 },
  { name: 'seen unchanged, not for long enough', spec: held, seen: seenAt(0), now: 14_999, act: 'Wait', forMs: 1 },
  { name: 'seen unchanged for as long as it is valid', spec: held, seen: seenAt(0), now: 15_000, act: 'Take' },
  {
    name: 'renewed since',
    spec: renewedSpec(held, 5),
    seen: seenAt(0),
    now: 15_000,
    act: 'Wait',
    forMs: 15_000,
  },
  {
    name: 'renewed by a clock that was set back',
    spec: { ...held, renewTime: '1999-01-01T00:00:00.000000Z' },
    seen: seenAt(0),
    now: 15_000,
    act: 'Wait',
    forMs: 15_000,
  },
  {
    name: 'taken by a third',
    spec: { ...held, holderIdentity: 'third', leaseTransitions: 4 },
    seen: seenAt(0),
    now: 15_000,
    act: 'Wait',
    forMs: 15_000,
  },
  {
    name: 'a holder with a longer Lease than ours',
    spec: { ...held, leaseDurationSeconds: 60 },
    now: 0,
    act: 'Wait',
    forMs: 60_000,
  },
  { name: 'deleted under its holder', spec: undefined, seen: seenAt(0), now: 14_000, act: 'Wait', forMs: 1_000 },
  { name: 'deleted, and its holder had time to see it', spec: undefined, seen: seenAt(0), now: 15_000, act: 'Take' },
  { name: 'what this process wrote, and never heard of', spec: held, now: 0, own: true, act: 'Take' },
];

describe('what a standby does about the Lease', () => {
  for (const { name, spec, seen, now, own = false, act, forMs } of rows) {
    test(`${name}: ${act}`, () => {
      const step = decideStandby({ spec, seen, now, leaseDurationMs: LEASE_MS, isOwn: () => own });
      assert.equal(step.act, act);
      if (step.act === 'Wait') assert.equal(step.forMs, forMs);
      assert.deepEqual(step.seen.spec, spec);
    });
  }

  test('taking counts the transitions, from none at all on', () => {
    const options = { identity: 'me', leaseDurationMs: 15_000, now: Date.UTC(2026, 0, 1), random: () => 0.5 };
    assert.deepEqual(takenSpec(undefined, options), {
      holderIdentity: 'me',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000500Z',
      renewTime: '2026-01-01T00:00:00.000500Z',
      leaseTransitions: 0,
    });
    assert.equal(takenSpec(held, options).leaseTransitions, 4);
    const released = releasedSpec(held, options.now);
    assert.equal('holderIdentity' in released, false);
    assert.equal(takenSpec(released, options).leaseTransitions, 4);
  });
});

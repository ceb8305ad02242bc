import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getHeapSpaceStatistics } from 'node:v8';
import { ManualClock } from '@asterism/client/testing';
import { keepHeapCompact } from './keep-heap-compact.ts';

const MIB = 1024 * 1024;

/** A process whose memory and work the test decides; a compaction leaves `left` of it. */
function startTrial(left = 100 * MIB) {
  const clock = new ManualClock();
  const stop = new AbortController();
  const state = { rss: 150 * MIB, live: 500 * MIB, utilization: 0, compactions: 0, growth: 0 };
  const memory = {
    rss: () => state.rss,
    live: () => state.live,
    utilization: () => state.utilization,
    compact: () => {
      state.compactions++;
      state.rss = left;
    },
    growth: (percent: number) => {
      state.growth = percent;
    },
    keepYoungSmall: () => {},
  };
  keepHeapCompact(stop.signal, { clock, memory });
  return { clock, stop, state };
}

test('a process is compacted as soon as its start is over, and not in the middle of it', () => {
  const { clock, state } = startTrial();
  state.utilization = 0.5;
  clock.advance(7_000);
  assert.equal(state.compactions, 0);
  state.utilization = 0.1;
  clock.advance(1_000);
  assert.equal(state.compactions, 1);
});

const looks: [what: string, left: number, rss: number, utilization: number, compacted: boolean][] = [
  ['grown and idle', 100, 140, 0.01, true],
  ['grown and at work for a tenth of the time', 100, 140, 0.1, true],
  ['grown and busy', 100, 140, 0.5, false],
  ['idle and hardly grown', 100, 131, 0.01, false],
  ['large, idle and grown by less than a quarter', 400, 499, 0.01, false],
  ['large, idle and grown by a quarter', 400, 500, 0.01, true],
];
for (const [what, left, rss, utilization, compacted] of looks) {
  test(`later, one that is ${what} is ${compacted ? '' : 'not '}compacted`, () => {
    const { clock, state } = startTrial(left * MIB);
    clock.advance(1_000);
    Object.assign(state, { rss: rss * MIB, utilization });
    clock.advance(20_000);
    assert.equal(state.compactions, compacted ? 2 : 1);
  });
}

test('one that was busy is not compacted in a pause between two loads', () => {
  const { clock, state } = startTrial();
  clock.advance(1_000);
  for (let load = 0; load < 6; load++) {
    Object.assign(state, { rss: 200 * MIB, utilization: 0.3 });
    clock.advance(10_000);
    state.utilization = 0;
    clock.advance(10_000);
  }
  assert.equal(state.compactions, 1);
  clock.advance(10_000);
  assert.equal(state.compactions, 2);
});

const rests: [what: string, rss: number, busyAt: number | undefined, compacted: boolean][] = [
  ['a twentieth', 845, undefined, true],
  ['less', 835, undefined, false],
  ['a twentieth, and was at work in between', 845, 3, false],
];
for (const [what, rss, busyAt, compacted] of rests) {
  test(`a large one that rests for a minute is ${compacted ? '' : 'not '}compacted where it grew by ${what}`, () => {
    const { clock, state } = startTrial(800 * MIB);
    clock.advance(1_000);
    for (let look = 1; look <= 6; look++) {
      assert.equal(state.compactions, 1);
      Object.assign(state, { rss: rss * MIB, utilization: look === busyAt ? 1 : 0.05 });
      clock.advance(10_000);
    }
    assert.equal(state.compactions, compacted ? 2 : 1);
  });
}

test('one that goes on resting is not compacted again for a twentieth, one that rests anew is', () => {
  const { clock, state } = startTrial(800 * MIB);
  clock.advance(1_000);
  const rest = (): void => {
    for (let look = 1; look <= 7; look++) {
      state.rss = 845 * MIB;
      clock.advance(10_000);
    }
  };
  rest();
  assert.equal(state.compactions, 2);
  rest();
  assert.equal(state.compactions, 2);
  state.utilization = 1;
  clock.advance(10_000);
  state.utilization = 0.05;
  rest();
  assert.equal(state.compactions, 3);
});

test('while it is idle, a heap may grow by a fifth before garbage is looked for', () => {
  const { clock, state } = startTrial();
  clock.advance(11_000);
  assert.equal(state.growth, 20);
  state.utilization = 1;
  clock.advance(10_000);
  assert.equal(state.growth, 0);
});

test('a small heap may grow to 256 MB before garbage is looked for, idle or not', () => {
  const { clock, state } = startTrial();
  state.live = 32 * MIB;
  clock.advance(11_000);
  assert.equal(state.growth, 700);
  Object.assign(state, { utilization: 1, live: 64 * MIB });
  clock.advance(10_000);
  assert.equal(state.growth, 300);
});

test('nothing more is done after the signal', () => {
  const { clock, stop, state } = startTrial();
  stop.abort();
  clock.advance(60_000);
  assert.equal(state.compactions, 0);
});

test('what was garbage is given back to the system, and no gc function is left behind', () => {
  const committed = (): number => getHeapSpaceStatistics().reduce((sum, { space_size }) => sum + space_size, 0);
  const clock = new ManualClock();
  keepHeapCompact(new AbortController().signal, { clock });
  let garbage: object[] | undefined = Array.from({ length: 500_000 }, (_, index) => ({ index }));
  const before = committed();
  assert.ok(garbage.length > 0);
  garbage = undefined;
  clock.advance(1_000);
  assert.ok(committed() < before - 10 * MIB, `${before} before, ${committed()} after`);
  assert.equal('gc' in globalThis, false);
});

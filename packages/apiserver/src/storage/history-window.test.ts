import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type HistoryEntry, HistoryWindow } from './history-window.ts';

const entry = (time: number, bytes = 1): HistoryEntry => ({ time, bytes });

describe('history window', () => {
  const bounds = { milliseconds: 100, changes: 5, bytes: 50 };
  const cases: readonly (readonly [string, HistoryEntry[], number, number])[] = [
    ['within all bounds nothing is forgotten', [entry(0), entry(10)], 100, 0],
    ['what is too old', [entry(0), entry(10), entry(20)], 111, 2],
    ['what is too much', Array.from({ length: 8 }, () => entry(0)), 0, 3],
    ['what is too big', [entry(0, 10), entry(0, 45), entry(0, 2)], 0, 1],
    ['one that is too big alone', [entry(0, 51)], 0, 1],
  ];
  for (const [name, entries, now, forgotten] of cases) {
    test(name, () => {
      const window = new HistoryWindow(bounds);
      for (const each of entries) window.push(each);
      assert.deepEqual(window.expire(now), entries.slice(0, forgotten));
      assert.deepEqual(window.expire(now), []);
    });
  }

  test('in parts, each once, in order, over many thousands', () => {
    const window = new HistoryWindow<HistoryEntry & { id: number }>(bounds);
    const seen: number[] = [];
    for (let id = 0; id < 20_000; id++) {
      window.push({ time: 0, bytes: 1, id });
      if (id % 7 === 0) seen.push(...window.expire(0, 10).map((each) => each.id));
    }
    while (seen.length < 19_995) {
      const part = window.expire(0, 10);
      assert.ok(part.length > 0 && part.length <= 10);
      seen.push(...part.map((each) => each.id));
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 19_995 }, (_, id) => id),
    );
  });
});

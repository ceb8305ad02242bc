import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WriteTimes } from './write-times.ts';

test('a revision is as old as the first time that was noted for it or a later one', () => {
  const times = new WriteTimes();
  assert.ok(times.isEmpty);
  times.note(10, 1_000);
  times.note(20, 3_000);
  times.note(30, 3_000);
  times.note(40, 2_000); // The clock was set back.
  times.note(50, 5_000);
  assert.deepEqual(
    [999, 1_000, 2_999, 3_000, 4_999, 5_000, 9_000].map((time) => times.revisionBy(time)),
    [0, 10, 10, 40, 40, 50, 50],
  );
});

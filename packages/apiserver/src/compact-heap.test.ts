import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getHeapSpaceStatistics } from 'node:v8';
import { compactHeap } from './compact-heap.ts';

test('what was garbage is given back to the system, and no gc function is left behind', () => {
  const committed = (): number => getHeapSpaceStatistics().reduce((sum, { space_size }) => sum + space_size, 0);
  let garbage: object[] | undefined = Array.from({ length: 500_000 }, (_, index) => ({ index }));
  const before = committed();
  assert.ok(garbage.length > 0);
  garbage = undefined;
  compactHeap();
  assert.ok(committed() < before - 10 * 1024 * 1024, `${before} before, ${committed()} after`);
  assert.equal('gc' in globalThis, false);
});

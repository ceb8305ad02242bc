import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LongWork } from './long-work.ts';

function hold(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

test('others have their turn between two long steps', async () => {
  const order: string[] = [];
  const work = new LongWork();
  await work.step(() => {
    setImmediate(() => order.push('another'));
    hold(20);
    order.push('first');
  });
  await work.step(() => order.push('second'));
  assert.deepEqual(order, ['first', 'another', 'second']);
});

test('a short step is taken at once', () => {
  assert.equal(
    new LongWork().step(() => 'taken'),
    'taken',
  );
});

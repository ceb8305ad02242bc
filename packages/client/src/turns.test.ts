import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Turns } from './turns.ts';

const WORK_MS = 2;

function work(): void {
  for (const end = performance.now() + WORK_MS; performance.now() < end; );
}

/** What many readers did in each round of the event loop, until all were done. */
async function readers(count: number, things: number, turns = new Turns()): Promise<number[]> {
  const rounds: number[] = [];
  let running = count;
  const read = async (): Promise<void> => {
    for (let thing = 0; thing < things; thing++) {
      const turn = turns.next();
      if (turn) await turn;
      rounds.push((rounds.pop() ?? 0) + 1);
      work();
    }
    running--;
  };
  rounds.push(0);
  const all = Array.from({ length: count }, read);
  while (running > 0) {
    await new Promise(setImmediate);
    rounds.push(0);
  }
  await Promise.all(all);
  return rounds;
}

describe('those who read', () => {
  test('take no longer in each round of the event loop than one alone', async () => {
    const rounds = await readers(20, 5);
    assert.equal(
      rounds.reduce((sum, things) => sum + things, 0),
      100,
    );
    // 5 ms have room for three, of 2 ms each; what an immediate of ours sees may be a round and a part of the next.
    assert.ok(Math.max(...rounds) <= 6, rounds.join(' '));
  });

  test('use all of a turn, though each of them has little to do in it', async () => {
    const turns = new Turns();
    void turns.next();
    while (turns.next() === undefined) work();
    const order: number[] = [];
    const waiting = Array.from({ length: 50 }, async (_, index) => {
      await turns.next();
      order.push(index);
    });
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    assert.deepEqual(
      order,
      Array.from({ length: 50 }, (_, index) => index),
    );
    await Promise.all(waiting);
  });

  test('need not wait where nobody does, in the next round either', async () => {
    const turns = new Turns();
    assert.equal(turns.next(), undefined);
    while (turns.next() === undefined) work();
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    assert.equal(turns.next(), undefined);
  });
});

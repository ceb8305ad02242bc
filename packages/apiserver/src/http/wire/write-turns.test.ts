import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WriteTurns } from './write-turns.ts';

const KIB = 1024;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** So many writers of `bytes` each, who write when they may; which of them have, turn by turn. */
async function write(writers: number, bytes: number): Promise<number[]> {
  const turns = new WriteTurns();
  let written = 0;
  const act = (): void => {
    if (!turns.open) {
      turns.wait(act);
      return;
    }
    written++;
    turns.spend(bytes);
  };
  const byTurn: number[] = [];
  for (let writer = 0; writer < writers; writer++) act();
  for (let last = -1; last !== written; await turn()) {
    last = written;
    byTurn.push(written);
  }
  return byTurn;
}

describe('writes of the streams of one connection', () => {
  const cases: { name: string; writers: number; bytes: number; byTurn: number[] }[] = [
    { name: 'leave at once while they are few', writers: 3, bytes: KIB, byTurn: [3, 3] },
    { name: 'pause when 128 KiB have left', writers: 5, bytes: 64 * KIB, byTurn: [2, 4, 5, 5] },
    { name: 'are not held back by one that is larger', writers: 3, bytes: 500 * KIB, byTurn: [1, 2, 3, 3] },
  ];
  for (const { name, writers, bytes, byTurn } of cases) {
    test(name, async () => {
      assert.deepEqual([...new Set(await write(writers, bytes))], [...new Set(byTurn)]);
    });
  }

  test('go on in the order in which they waited, before those that come later', async () => {
    const turns = new WriteTurns();
    const order: string[] = [];
    const wait = (name: string): void => {
      turns.wait(() => {
        order.push(name);
        turns.spend(128 * KIB);
      });
    };
    turns.spend(128 * KIB);
    for (const name of ['a', 'b']) wait(name);
    await turn();
    wait('c');
    assert.deepEqual(order, ['a']);
    await turn();
    await turn();
    assert.deepEqual(order, ['a', 'b', 'c']);
  });
});

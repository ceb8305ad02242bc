import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ListTurns } from './list-turns.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Lists that come at once, by their numbers of items; how many were put together by the end of each of some turns. */
async function made(lists: readonly number[], ends: number): Promise<number[]> {
  const turns = new ListTurns();
  let count = 0;
  const byTurn: number[] = [];
  for (const items of lists) {
    void turns.enter().then(() => {
      count++;
      turns.done(items);
    });
    await Promise.resolve().then(() => {}); // As requests come: one after the other, in one turn.
  }
  for (let end = 0; end < ends; end++) {
    byTurn.push(count);
    await turn();
  }
  return byTurn;
}

describe('lists that are asked for at the same time', () => {
  const cases: { name: string; lists: number[]; byTurn: number[] }[] = [
    { name: 'small ones are put together at once', lists: [10, 10, 10], byTurn: [3, 3, 3, 3] },
    { name: 'large ones one in a turn', lists: [5_000, 5_000, 5_000], byTurn: [1, 2, 3, 3] },
    { name: 'what comes behind a large one waits for its turn', lists: [10, 5_000, 10, 10], byTurn: [2, 3, 4, 4] },
  ];
  for (const { name, lists, byTurn } of cases) {
    test(name, async () => {
      assert.deepEqual(await made(lists, byTurn.length), byTurn);
    });
  }

  test('a later list does not wait for what is over', async () => {
    const turns = new ListTurns();
    turns.done(5_000);
    await turn();
    await turn();
    let entered = false;
    void turns.enter().then(() => (entered = true));
    await Promise.resolve().then(() => {});
    assert.ok(entered);
  });
});

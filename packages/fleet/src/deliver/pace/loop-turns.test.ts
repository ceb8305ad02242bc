import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { LoopTurns } from './loop-turns.ts';

/** A clock that moves only when a step says how long it took. */
function pacedBy(sliceMs: number) {
  const clock = { now: 0 };
  const turns = new LoopTurns({ sliceMs, now: () => clock.now });
  const took: { name: string; turn: number }[] = [];
  let turnNumber = 0;
  const count = (): void => {
    turnNumber++;
    if (turnNumber < 100) setImmediate(count);
  };
  setImmediate(count);
  const compute = async (name: string, steps: number, ms: number): Promise<void> => {
    for (let step = 0; step < steps; step++) {
      await turns.run(() => {
        took.push({ name, turn: turnNumber });
        clock.now += ms;
      });
    }
  };
  return { compute, took };
}

test('computations that fit into the slice run in one turn of the loop', async () => {
  const { compute, took } = pacedBy(10);
  await Promise.all([compute('a', 3, 1), compute('b', 3, 1)]);
  assert.deepEqual(new Set(took.map((each) => each.turn)), new Set([0]));
});

test('a computation that takes longer gives the loop a turn after each slice', async () => {
  const { compute, took } = pacedBy(10);
  await compute('a', 6, 6);
  assert.deepEqual(
    took.map((each) => each.turn),
    [0, 0, 1, 1, 2, 2],
  );
});

test('many that take long together take one slice of a turn, each in its order', async () => {
  const { compute, took } = pacedBy(10);
  await Promise.all(['a', 'b', 'c'].map((name) => compute(name, 2, 10)));
  assert.deepEqual(
    took.map(({ name }) => name),
    ['a', 'b', 'c', 'a', 'b', 'c'],
  );
  const turns = took.map((each) => each.turn);
  assert.equal(new Set(turns).size, turns.length, `one step in each turn: ${turns.join(' ')}`);
});

test('a computation in a later turn has a slice of its own', async () => {
  const { compute, took } = pacedBy(10);
  await compute('a', 1, 50);
  await turn();
  await turn();
  const before = took.length;
  await compute('b', 1, 1);
  assert.equal(took.length, before + 1);
});

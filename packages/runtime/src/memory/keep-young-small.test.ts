import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compactHeap } from './keep-heap-compact.ts';
import { keepYoungSmall, youngSpace } from './keep-young-small.ts';

const MIB = 1024 * 1024;

/** A space whose size and collections the test decides. */
function startTrial() {
  const stop = new AbortController();
  const state = { bytes: 1 * MIB, grows: true, at: 0, watched: true };
  let listener = (_at: number): void => {};
  keepYoungSmall(stop.signal, {
    bytes: () => state.bytes,
    mayGrow: (may) => (state.grows = may),
    onCollection: (told) => {
      listener = told;
      return { [Symbol.dispose]: () => (state.watched = false) };
    },
  });
  const collectAfter = (ms: number): void => listener((state.at += ms));
  return { stop, state, collectAfter };
}

test('it may grow until it is large enough, and again when it was made small', () => {
  const { state, collectAfter } = startTrial();
  state.bytes = 8 * MIB;
  collectAfter(1_000);
  assert.equal(state.grows, true);
  state.bytes = 16 * MIB;
  collectAfter(1_000);
  assert.equal(state.grows, false);
  state.bytes = 1 * MIB;
  collectAfter(1_000);
  assert.equal(state.grows, true);
});

test('where collections come thick and fast it grows further, and no more when they do not', () => {
  const { state, collectAfter } = startTrial();
  state.bytes = 16 * MIB;
  for (let count = 0; count < 5; count++) collectAfter(100);
  assert.equal(state.grows, false);
  collectAfter(100);
  assert.equal(state.grows, true);
  collectAfter(1_000);
  assert.equal(state.grows, false);
});

test('V8 has its way again after the signal', () => {
  const { stop, state, collectAfter } = startTrial();
  state.bytes = 16 * MIB;
  collectAfter(1_000);
  assert.equal(state.grows, false);
  stop.abort();
  assert.deepEqual([state.grows, state.watched], [true, false]);
});

test('the space of this process grows only while it may, and its collections are told of', async () => {
  const space = youngSpace();
  /** Objects of which as many survive as make V8 double the space, and again. */
  const survive = (): void => {
    const kept: object[] = [];
    for (let index = 0; index < 400_000; index++) kept.push({ index, more: [index] });
    assert.equal(kept.length, 400_000);
  };
  const { promise: told, resolve } = Promise.withResolvers<number>();
  using _watching = space.onCollection(resolve);
  compactHeap();
  space.mayGrow(false);
  survive();
  const held = space.bytes();
  assert.ok(held <= 2 * MIB, `${held} bytes`);
  space.mayGrow(true);
  survive();
  assert.ok(space.bytes() >= 8 * MIB, `${space.bytes()} bytes`);
  assert.ok((await told) > 0);
});

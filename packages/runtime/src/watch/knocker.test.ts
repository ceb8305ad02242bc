import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { ManualClock } from '@asterism/client/testing';
import { Knocker } from './knocker.ts';
import { answer, FakeApi, type FakeCall, failure } from '../testing/fake-api.ts';

let api: FakeApi;
let clock: ManualClock;
let abort: AbortController;
let knocker: Knocker;

beforeEach(async () => {
  api = await FakeApi.start();
  clock = new ManualClock();
  abort = new AbortController();
  const client = api.client();
  knocker = new Knocker({ client: () => client, clock, random: () => 0 });
});

afterEach(async () => {
  abort.abort();
  await api[Symbol.asyncDispose]();
});

const knocks = () => api.calls.filter(({ path }) => path === '/readyz').length;
const reset = ({ response }: FakeCall): boolean => {
  response.destroy();
  return true;
};
const isPause = (ms: number) => (wanted: number) => wanted === ms;

describe('Knocker', () => {
  test('one asks for all who wait, and tells them, and who listens, that the server answers again', async () => {
    let returns = 0;
    knocker.onReturn(() => returns++);
    const mend = api.fault(reset);
    const waiting = Promise.all([1, 2, 3].map(() => knocker.answersAgain(abort.signal)));
    await clock.timer(isPause(500));
    assert.equal(knocks(), 1);
    clock.advance(500);
    await clock.timer(isPause(750));
    assert.equal(knocks(), 2);
    mend();
    clock.advance(750);
    assert.deepEqual(await waiting, [true, true, true]);
    assert.equal(knocks(), 3);
    assert.equal(returns, 1);
  });

  test('it asks ever more seldom, down to every 5 s', async () => {
    api.fault(reset);
    knocker.answersAgain(abort.signal).catch(() => {});
    for (const pause of [500, 750, 1_125, 1_687.5, 2_531.25]) {
      await clock.timer(isPause(pause));
      clock.advance(pause);
    }
    await clock.timer((ms) => ms > 3_750 && ms < 3_850);
    clock.advance(3_850);
    await api.called(() => knocks() === 7);
    await clock.timer(isPause(5_000));
  });

  test('a server that was not silent is not back', async () => {
    knocker.onReturn(() => assert.fail('nothing has returned'));
    assert.equal(await knocker.answersAgain(abort.signal), false);
  });

  test('one that says that it is not ready, or too busy, does not answer yet', async () => {
    const stopBusy = api.fault(({ response }) => (answer(response, 429, failure(429, 'TooManyRequests')), true));
    const waiting = knocker.answersAgain(abort.signal);
    await clock.timer(isPause(500));
    stopBusy();
    const ready = api.fault(({ response }) => (answer(response, 500, 'no'), true));
    clock.advance(500);
    await clock.timer(isPause(750));
    ready();
    clock.advance(750);
    assert.equal(await waiting, true);
  });

  test('one that takes a call and says nothing is given up after 5 s', async () => {
    let held: FakeCall | undefined;
    api.faultOnce((call) => ((held = call), true));
    const waiting = knocker.answersAgain(abort.signal);
    await api.called(({ path }) => path === '/readyz');
    assert.ok(held);
    await clock.timer(isPause(5_000));
    clock.advance(5_000);
    await clock.timer(isPause(500));
    clock.advance(500);
    assert.equal(await waiting, true);
  });

  test('nobody asks when nobody waits', async () => {
    api.fault(reset);
    const waiting = knocker.answersAgain(abort.signal);
    await clock.timer(isPause(500));
    abort.abort(new Error('enough'));
    await assert.rejects(waiting, /enough/);
    assert.deepEqual(
      clock.pending().filter((ms) => ms <= 5_000),
      [],
    );
    clock.advance(60_000);
    assert.equal(knocks(), 1);
  });
});

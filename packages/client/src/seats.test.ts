import assert from 'node:assert/strict';
import { describe, mock, test } from 'node:test';
import { type Seat, Seats } from './seats.ts';

/** Who has a seat of two, of three who asked in turn. */
async function three(): Promise<{ seated: Seat[]; settle: () => Promise<unknown> }> {
  const seats = new Seats(2);
  const seated: Seat[] = [];
  for (let index = 0; index < 3; index++) void seats.take().then((seat) => seated.push(seat));
  const settle = (): Promise<unknown> => new Promise(setImmediate);
  await settle();
  assert.equal(seated.length, 2);
  return { seated, settle };
}

describe('a seat', () => {
  test('is given to the next one when it is given back', async () => {
    const { seated, settle } = await three();
    seated[0]?.[Symbol.dispose]();
    seated[0]?.[Symbol.dispose]();
    await settle();
    assert.equal(seated.length, 3);
  });

  for (const kept of [false, true]) {
    test(`${kept ? 'that is kept stays' : 'of one that waits is given on after'} half a second`, async (t) => {
      mock.timers.enable({ apis: ['setTimeout'] });
      t.after(() => mock.timers.reset());
      const { seated, settle } = await three();
      if (kept) for (const seat of seated) seat.keep();
      mock.timers.tick(500);
      await settle();
      assert.equal(seated.length, kept ? 2 : 3);
      for (const seat of seated) seat[Symbol.dispose]();
      await settle();
      assert.equal(seated.length, 3);
    });
  }
});

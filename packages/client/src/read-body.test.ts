import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, test } from 'node:test';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { ReadBudget } from './bounded/read-budget.ts';
import { READ_REFUSALS, ReadLimitError } from './bounded/read-limit-error.ts';
import { READ_LIMITS, type ReadLimits } from './bounded/read-limits.ts';
import { readBody, readLines, readStart } from './read-body.ts';
import { ManualClock } from './testing/manual-clock.ts';

const SERVER = 'https://fake.test';
const PIECE = Buffer.alloc(1024, 'x');

function limits(given: Partial<ReadLimits>): ReadLimits {
  return { ...READ_LIMITS.object, use: 'test', ...given };
}

/** Sends pieces for as long as it is read. */
function endless(): Readable & { sent: number } {
  const body = Object.assign(new Readable({ read: () => void (body.sent++, body.push(PIECE)) }), { sent: 0 });
  return body;
}

function isRefused(limit: string) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof ReadLimitError, String(error));
    assert.equal(error.code, 'ERR_READ_LIMIT');
    assert.equal(error.limit, limit);
    assert.match(error.message, /^https:\/\/fake\.test sent .* \(limit for test\): /);
    return true;
  };
}

describe('readBody', () => {
  test('a body within the limits is whole', async () => {
    const body = Readable.from([Buffer.from('a'), Buffer.from('bc')], { objectMode: false });
    assert.equal((await readBody(body, SERVER, { limits: limits({ maxBytes: 3 }) })).toString(), 'abc');
  });

  test('a body that never ends is refused at the limit, and the request ended', async () => {
    const body = endless();
    const refusals: unknown[] = [];
    const note = (refusal: unknown): void => void refusals.push(refusal);
    subscribe(READ_REFUSALS, note);
    await assert.rejects(readBody(body, SERVER, { limits: limits({ maxBytes: 10_000 }) }), isRefused('bytes'));
    unsubscribe(READ_REFUSALS, note);
    assert.ok(body.destroyed);
    assert.ok(body.sent < 100, `${body.sent} pieces were read`);
    assert.deepEqual(refusals, [{ limit: 'bytes', source: SERVER, use: 'test', excess: 'more than 10000 bytes' }]);
  });

  test('silence in the middle of an answer ends it', async () => {
    const clock = new ManualClock();
    const body = new Readable({ read() {} });
    const reading = readBody(body, SERVER, { clock, limits: limits({ idleMs: 100, deadlineMs: 1_000 }) });
    const refused = assert.rejects(reading, isRefused('idle'));
    body.push(PIECE);
    await turn();
    clock.advance(99);
    assert.ok(!body.destroyed);
    clock.advance(2);
    await refused;
    assert.ok(body.destroyed);
  });

  test('a trickle that never stops ends at the deadline', async () => {
    const clock = new ManualClock();
    const body = new Readable({ read() {} });
    const reading = readBody(body, SERVER, { clock, limits: limits({ idleMs: 100, deadlineMs: 1_000 }) });
    const refused = assert.rejects(reading, isRefused('deadline'));
    for (let i = 0; i < 20 && !body.destroyed; i++) {
      body.push('x');
      await turn();
      clock.advance(60);
    }
    await refused;
    assert.ok(body.destroyed);
  });

  test('a body that breaks off, and a signal, are told as such', async () => {
    const broken = new Readable({ read() {} });
    const reading = assert.rejects(readBody(broken, SERVER), { name: 'ClientError', code: 'ECONNRESET' });
    broken.destroy(Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
    await reading;
  });

  test('answers that are read at the same time share a budget; the first of them is never held up', async () => {
    const budget = new ReadBudget(4 * PIECE.length);
    const bodies = [1, 2, 3].map(() => new Readable({ read() {}, highWaterMark: 1 }));
    const read = bodies.map((body) => readBody(body, SERVER, { budget }));
    for (let i = 0; i < 8; i++) {
      for (const body of bodies) body.push(PIECE);
      await turn();
    }
    // All of the first, and a piece too many of each of the others.
    assert.ok(budget.used <= (8 + 4 + 2) * PIECE.length, `${budget.used} bytes are held`);
    for (const body of bodies) body.push(null);
    const lengths = (await Promise.all(read)).map(({ length }) => length);
    assert.deepEqual(lengths, [8 * PIECE.length, 8 * PIECE.length, 8 * PIECE.length]);
    assert.equal(budget.used, 0);
  });

  test('what was refused or broke off leaves nothing in the budget', async () => {
    const budget = new ReadBudget(1_000_000);
    await assert.rejects(readBody(endless(), SERVER, { budget, limits: limits({ maxBytes: 5_000 }) }));
    const broken = endless();
    broken.once('data', () => broken.destroy(new Error('gone')));
    await assert.rejects(readBody(broken, SERVER, { budget }));
    assert.equal(budget.used, 0);
  });
});

test('the start of an endless body is all that is read of it', async () => {
  const body = endless();
  const start = await readStart(body, SERVER, { limits: limits({ maxBytes: 1_500 }) });
  assert.equal(start.length, 1_500);
  assert.ok(body.destroyed);
});

describe('readLines', () => {
  async function linesOf(body: Readable, options: Parameters<typeof readLines>[2]): Promise<number> {
    let lines = 0;
    for await (const _ of readLines(body, SERVER, options)) lines++;
    return lines;
  }

  test('a line without an end is refused', async () => {
    const body = endless();
    await assert.rejects(linesOf(body, { limits: limits({ maxBytes: 10_000 }) }), isRefused('bytes'));
    assert.ok(body.destroyed);
  });

  test('long lines of many watches share a budget', async () => {
    const budget = new ReadBudget(1024 * 1024);
    const watches = Array.from({ length: 20 }, () => linesOf(endless(), { budget, limits: limits({}) }));
    for (const watch of await Promise.allSettled(watches)) assert.equal(watch.status, 'rejected');
    assert.equal(budget.used, 0);
  });
});

import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { isStatusError } from '@asterism/machinery';
import { type ApiServer, createApiServer } from '../../api-server.ts';
import { createMemoryStorage } from '../../storage/memory-storage.ts';
import type { ApiResponse } from '../../contract/api-request.ts';
import { FairSeats, type Leave } from './fair-seats.ts';

const PATH = '/api/v1/configmaps';

/** Of a caller whom the limit holds for, unless his groups say otherwise. */
function get(server: ApiServer, { query = '', groups = ['readers'] } = {}): Promise<ApiResponse> {
  return server.handle({
    method: 'GET',
    path: PATH,
    query: new URLSearchParams(query),
    headers: {},
    body: () => Promise.resolve(new Uint8Array()),
    bodyStream: Readable.from([]),
    user: { username: 'u', groups },
    signal: new AbortController().signal,
  });
}

async function leave({ body }: ApiResponse): Promise<void> {
  await (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]().return?.();
}

test('an answer that has not left takes a seat; watches and system:masters take none', async () => {
  await using server = createApiServer({
    storage: createMemoryStorage(),
    authorization: 'AlwaysAllow',
    controllers: false,
    maxInFlight: 1,
  });
  await server.start();
  const watch = await get(server, { query: 'watch=1' });
  const slow = await get(server);
  const waiting = get(server);
  const refused = await get(server);
  assert.deepEqual([watch.status, slow.status, refused.status], [200, 200, 429]);
  assert.equal(refused.headers['retry-after'], '1');
  await leave(await get(server, { groups: ['system:masters'] }));
  for await (const _ of slow.body as AsyncIterable<Uint8Array>);
  const left = await waiting;
  assert.equal(left.status, 200, 'the list that was read gave its seat back');
  await leave(left);
  assert.equal((await get(server)).status, 200, 'and so did the one that was left');
  await leave(watch);
});

describe('seats', () => {
  /** Who came in, in order, and what gives each one's seat back. */
  function room(seats: number, waitMs?: number) {
    const fair = new FairSeats(seats, waitMs);
    const seen: string[] = [];
    const leaves: Leave[] = [];
    const come = async (user: string, signal = new AbortController().signal): Promise<void> => {
      const leave = await fair.enter(user, () => signal);
      seen.push(user);
      leaves.push(leave);
    };
    /** Has the one who has been in for longest leave, and lets whoever is next come in. */
    const next = async (): Promise<void> => {
      await new Promise(setImmediate);
      leaves.shift()?.();
      await new Promise(setImmediate);
    };
    return { come, next, seen };
  }

  const isTooMany = (error: unknown): boolean => isStatusError(error, 'TooManyRequests');

  test('one that floods has others served before its next, and then takes turns with them', async () => {
    const { come, next, seen } = room(2);
    const all = [...Array.from({ length: 4 }, () => come('flood')), come('calm'), come('calm')];
    for (let i = 0; i < 4; i++) await next();
    assert.deepEqual(seen, ['flood', 'flood', 'calm', 'flood', 'calm', 'flood']);
    await Promise.all(all);
  });

  test('of those who have as many, who has waited longest is next', async () => {
    const { come, next, seen } = room(2);
    const all = ['a', 'a', 'b', 'c', 'b', 'd'].map((user) => come(user));
    for (let i = 0; i < 4; i++) await next();
    assert.deepEqual(seen, ['a', 'a', 'b', 'c', 'd', 'b']);
    await Promise.all(all);
  });

  test('a line is as long as there are seats', async () => {
    const { come, next } = room(1);
    const first = [come('a'), come('a')];
    await assert.rejects(come('a'), isTooMany);
    const other = come('b');
    for (let i = 0; i < 2; i++) await next();
    await Promise.all([...first, other]);
  });

  test('nobody waits for ever, and who leaves the line is not waited for', async () => {
    const { come, next, seen } = room(1, 20);
    await come('a');
    await assert.rejects(come('b'), isTooMany);
    const gone = new AbortController();
    const leaving = come('b', gone.signal);
    const staying = come('c');
    gone.abort(new Error('gone'));
    await assert.rejects(leaving, /gone/);
    await next();
    await staying;
    assert.deepEqual(seen, ['a', 'c']);
    await assert.rejects(come('b', AbortSignal.abort(new Error('gone before'))), /gone before/);
  });
});

import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { type ApiServer, createApiServer } from '../api-server.ts';
import { createMemoryStorage } from '../storage/memory-storage.ts';
import type { ApiResponse } from './api-request.ts';

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

test('an answer that has not left takes a place; watches and system:masters take none', async () => {
  await using server = createApiServer({
    storage: createMemoryStorage(),
    authorization: 'AlwaysAllow',
    controllers: false,
    maxInFlight: 1,
  });
  await server.start();
  const watch = await get(server, { query: 'watch=1' });
  const slow = await get(server);
  const refused = await get(server);
  assert.deepEqual([watch.status, slow.status, refused.status], [200, 200, 429]);
  assert.equal(refused.headers['retry-after'], '1');
  await leave(await get(server, { groups: ['system:masters'] }));
  for await (const _ of slow.body as AsyncIterable<Uint8Array>);
  const left = await get(server);
  assert.equal(left.status, 200, 'the list that was read gave its place back');
  await leave(left);
  assert.equal((await get(server)).status, 200, 'and so did the one that was left');
  await leave(watch);
});

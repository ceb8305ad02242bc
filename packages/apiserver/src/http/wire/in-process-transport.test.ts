import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isStatusError } from '@asterism/machinery';
import type { ApiRequest, ApiResponse } from '../../contract/api-request.ts';
import { createInProcessTransport } from './in-process-transport.ts';

const USER = { username: 'alice', groups: [] };

function transportTo(handle: (request: ApiRequest) => Promise<ApiResponse>) {
  return createInProcessTransport({ handle, upgrade: () => Promise.reject(new Error('none here')) }, USER, 'here');
}

test('an answer that is there as a whole is handed over as it is, and as a stream to who wants one', async () => {
  const answer = Buffer.from('{"kind":"Pod"}');
  await using transport = transportTo(() => Promise.resolve({ status: 200, headers: {}, body: answer }));
  const response = await transport.request({ method: 'GET', path: '/x' });
  assert.equal(response.bytes, answer);
  assert.deepEqual(await response.body.toArray(), [answer]);
});

test('an answer that comes in pieces is a stream alone, and nothing in it is an empty one', async () => {
  async function* pieces() {
    yield Buffer.from('a');
    yield Buffer.from('b');
  }
  await using transport = transportTo(({ path }) =>
    Promise.resolve({ status: 200, headers: {}, ...(path === '/pieces' ? { body: pieces() } : {}) }),
  );
  const streamed = await transport.request({ method: 'GET', path: '/pieces' });
  assert.equal(streamed.bytes, undefined);
  assert.equal(Buffer.concat((await streamed.body.toArray()) as Buffer[]).toString(), 'ab');
  const empty = await transport.request({ method: 'GET', path: '/empty' });
  assert.equal(empty.bytes?.length, 0);
  assert.deepEqual(await empty.body.toArray(), []);
});

const bodies: [what: string, body: string | Uint8Array | AsyncIterable<Uint8Array> | undefined, text: string][] = [
  ['none', undefined, ''],
  ['a text', '{"a":1}', '{"a":1}'],
  ['bytes', Buffer.from('bytes'), 'bytes'],
  ['pieces', new Blob(['pieces']).stream() as AsyncIterable<Uint8Array>, 'pieces'],
];

for (const [what, body, text] of bodies) {
  test(`a request's body: ${what}`, async () => {
    await using transport = transportTo(async (request) => ({
      status: 200,
      headers: {},
      body: Buffer.from(await request.body()),
    }));
    const { bytes } = await transport.request({ method: 'POST', path: '/x', body });
    assert.equal(Buffer.from(bytes ?? []).toString(), text);
  });
}

test('a body may be read as a stream instead', async () => {
  await using transport = transportTo(async ({ bodyStream }) => ({
    status: 200,
    headers: {},
    body: Buffer.concat((await bodyStream.toArray()) as Buffer[]),
  }));
  const { bytes } = await transport.request({ method: 'POST', path: '/x', body: 'streamed' });
  assert.equal(Buffer.from(bytes ?? []).toString(), 'streamed');
});

test('a body above 3 MiB is refused as over a wire', async () => {
  await using transport = transportTo(async (request) => ({ status: 200, headers: {}, body: await request.body() }));
  await assert.rejects(
    transport.request({ method: 'POST', path: '/x', body: 'x'.repeat(3 * 1024 * 1024 + 1) }),
    (error) => isStatusError(error, 'RequestEntityTooLarge'),
  );
});

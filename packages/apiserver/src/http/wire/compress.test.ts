import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { ApiRequest, ApiResponse } from '../../contract/api-request.ts';
import { compress } from './compress.ts';

const LARGE = Buffer.alloc(200_000, 'x');

function requestWith(encoding: string | undefined): ApiRequest {
  return {
    method: 'GET',
    path: '/',
    query: new URLSearchParams(),
    headers: { 'accept-encoding': encoding },
    body: () => Promise.resolve(new Uint8Array()),
    bodyStream: Readable.from([]),
    signal: new AbortController().signal,
  };
}

function answer(body: NonNullable<ApiResponse['body']>, length: number | undefined): ApiResponse {
  return { status: 200, headers: length === undefined ? {} : { 'content-length': String(length) }, body };
}

async function bytesOf({ body }: ApiResponse): Promise<Buffer> {
  if (body === undefined || body instanceof Uint8Array) return Buffer.from(body ?? []);
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function* inTwo(): AsyncGenerator<Uint8Array> {
  yield LARGE.subarray(0, 100_000);
  await Promise.resolve();
  yield LARGE.subarray(100_000);
}

const rows: [name: string, encoding: string | undefined, length: number | undefined, zipped: boolean][] = [
  ['a large answer', 'gzip', LARGE.length, true],
  ['among others', 'br, gzip;q=0.5', LARGE.length, true],
  ['not asked for', undefined, LARGE.length, false],
  ['refused', 'gzip;q=0', LARGE.length, false],
  ['a small answer', 'gzip', 1000, false],
  ['a stream without a length', 'gzip', undefined, false],
];

for (const [name, encoding, length, zipped] of rows) {
  test(`gzip: ${name}`, async () => {
    for (const body of [LARGE, inTwo()]) {
      const compressed = await compress(requestWith(encoding), answer(body, length));
      assert.equal(compressed.headers['content-encoding'], zipped ? 'gzip' : undefined);
      const bytes = await bytesOf(compressed);
      assert.ok((zipped ? gunzipSync(bytes) : bytes).equals(LARGE));
    }
  });
}

test('who stops reading a compressed stream ends its source', async () => {
  const ended = Promise.withResolvers<void>();
  const endless: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      next: () => Promise.resolve({ done: false, value: LARGE }),
      return: () => {
        ended.resolve();
        return Promise.resolve({ done: true, value: undefined });
      },
    }),
  };
  const { body } = await compress(requestWith('gzip'), answer(endless, 1e9));
  assert.ok(body !== undefined && !(body instanceof Uint8Array));
  for await (const piece of body) if (piece.length > 0) break;
  await ended.promise;
});

import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { READ_LIMITS, type Transport } from '@asterism/client';
import { fetchJson } from './fetch-json.ts';

function transportOf(body: Readable): Transport {
  return {
    request: () => Promise.resolve({ status: 200, headers: {}, body }),
    upgrade: () => Promise.reject(new Error('no')),
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

const PIECE = Buffer.alloc(64 * 1024, ' ');
const bodies: [name: string, body: () => Readable, limit: string][] = [
  [
    'a document that never ends',
    () =>
      new Readable({
        read() {
          this.push(PIECE);
        },
      }),
    'bytes',
  ],
  [
    'a document that is nested too deeply',
    () => Readable.from([Buffer.from('['.repeat(1_000_000))], { objectMode: false }),
    'depth',
  ],
  [
    'a document of too many values',
    () => Readable.from([Buffer.from(`[${'[],'.repeat(2_000_000)}1]`)], { objectMode: false }),
    'items',
  ],
];
for (const [name, body, limit] of bodies) {
  test(`${name} is refused`, async () => {
    const made = body();
    const fetching = fetchJson({
      transport: transportOf(made),
      path: '/apis',
      accept: 'application/json',
      signal: new AbortController().signal,
      limits: READ_LIMITS.discovery,
    });
    await assert.rejects(fetching, {
      code: 'ERR_READ_LIMIT',
      limit,
      message: /^\/apis sent .*\(limit for discovery\)/,
    });
    assert.ok(made.destroyed);
  });
}

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Readable } from 'node:stream';
import { PODS } from '@asterism/machinery';
import { type ClientOptions, createClient } from '../client.ts';
import { SubtreePool } from '../subtree-pool.ts';
import type { Transport, TransportRequest } from '../transport.ts';

/** Answers each request with that body, in pieces of 16 KiB. */
function clientOf(
  answer: (request: TransportRequest, query: URLSearchParams) => string,
  options: Partial<ClientOptions> = {},
) {
  const asked: string[] = [];
  const transport: Transport = {
    server: 'https://fake.test',
    async request(request) {
      asked.push(request.path);
      const text = answer(request, new URLSearchParams(request.path.split('?')[1]));
      return { status: 200, headers: {}, body: Readable.from(pieces(Buffer.from(text)), { objectMode: false }) };
    },
    upgrade: () => Promise.reject(new Error('no')),
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  return { asked, client: createClient({ transport, ...options }) };
}

function* pieces(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 16_384) yield bytes.subarray(at, at + 16_384);
}

const pods = (names: readonly string[], next?: string): string =>
  JSON.stringify({
    metadata: next === undefined ? {} : { continue: next },
    items: names.map((name) => ({ metadata: { name, annotations: { filling: 'x'.repeat(200) } } })),
  });

const small = { readLimits: { list: { maxBytes: 5_000 } } };
const deep = `${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`;

describe('a client', () => {
  test('asks again for fewer objects where a page is too large', async () => {
    const all = Array.from({ length: 30 }, (_, n) => `p${n}`);
    const { asked, client } = clientOf((_, query) => {
      const from = Number(query.get('continue') ?? 0);
      const to = from + Number(query.get('limit'));
      return pods(all.slice(from, to), to < all.length ? String(to) : undefined);
    }, small);
    const found: string[] = [];
    for await (const { items } of client.resource(PODS).pages({ limit: 100 })) {
      found.push(...items.map(({ metadata }) => metadata?.name ?? ''));
    }
    assert.deepEqual(found, all);
    assert.deepEqual(
      asked.map((path) => new URLSearchParams(path.split('?')[1]).get('limit')),
      ['100', '12', '12', '12'],
    );
  });

  test('gives up where one object is too large', async () => {
    const { client } = clientOf(() => pods(Array.from({ length: 30 }, String)), small);
    await assert.rejects(Array.fromAsync(client.resource(PODS).pages()), { code: 'ERR_READ_LIMIT', limit: 'bytes' });
  });

  test('leaves a list that repeats its token', async () => {
    const { asked, client } = clientOf(() => pods([], 'again'));
    await assert.rejects(Array.fromAsync(client.resource(PODS).pages()), { limit: 'pages' });
    assert.equal(asked.length, 2);
  });

  const reads: [
    name: string,
    read: (client: ReturnType<typeof clientOf>['client']) => Promise<unknown>,
    answer: string,
  ][] = [
    ['an object', (client) => client.resource(PODS).get({ namespace: 'n', name: 'a' }), deep],
    ['a list', (client) => client.resource(PODS).list(), `{"items":[${deep}]}`],
    ['any document', (client) => client.getJson('/x'), deep],
    ['discovery', (client) => client.discovery.resources(), deep],
    ['an event', (client) => Array.fromAsync(client.resource(PODS).watch()), `{"type":"ADDED","object":${deep}}\n`],
    [
      'an error event',
      (client) => Array.fromAsync(client.resource(PODS).watch()),
      `{"type":"ERROR","object":${deep}}\n`,
    ],
  ];
  for (const [name, read, answer] of reads) {
    test(`refuses ${name} that is nested too deeply`, async () => {
      await assert.rejects(read(clientOf(() => answer).client), { code: 'ERR_READ_LIMIT', limit: 'depth' });
    });
  }

  test('refuses deep objects of lists and watches that are read with a pool', async () => {
    const subtrees = new SubtreePool();
    const list = clientOf(() => `{"items":[${deep}]}`)
      .client.resource(PODS)
      .list({ subtrees });
    await assert.rejects(list, { code: 'ERR_NOT_JSON' });
    const watch = clientOf(() => `{"type":"ADDED","object":${deep}}\n`)
      .client.resource(PODS)
      .watch({ subtrees });
    await assert.rejects(Array.fromAsync(watch), { code: 'ERR_NOT_JSON' });
  });

  test('frees what it read from its budget, also where it was refused', async () => {
    const { client } = clientOf(() => pods(Array.from({ length: 1_000 }, String)), {
      readLimits: { list: { maxBytes: 50_000 } },
    });
    await assert.rejects(client.resource(PODS).list());
    await client.getJson('/x');
    assert.equal(client.readBudget.used, 0);
    assert.equal(client.impersonating({ user: 'ann' }).readBudget, client.readBudget);
  });
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get } from 'node:https';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { ClientError, createClient, createTransport } from '@asterism/client';
import { CONFIG_MAPS, isStatusError } from '@asterism/machinery';
import type { AnswerFault, RequestFault } from './fault.ts';
import { FollowedConfigMaps } from './followed-config-maps.ts';
import type { RequestMatch } from './seen-request.ts';
import { type FaultyTestServer, startTestServer } from './test-server.ts';

const LISTS: RequestMatch = ({ verb, query }) => verb === 'list' && query.get('limit') !== '1';
const WATCHES: RequestMatch = { verb: 'watch', resource: 'configmaps' };

let server: FaultyTestServer;
beforeEach(async () => {
  server = await startTestServer({ faults: true, controllers: false });
});
afterEach(() => server.stop());

async function put(name: string, value: string): Promise<void> {
  const object = { metadata: { name, namespace: 'default' }, data: { value } };
  await server.inside.resource(CONFIG_MAPS).apply(object, { fieldManager: 'test', force: true });
}

async function remove(name: string): Promise<void> {
  await server.inside.resource(CONFIG_MAPS).delete({ namespace: 'default', name });
}

/** With `a`, on whose watch the test may strike. */
async function follow(): Promise<FollowedConfigMaps> {
  await put('a', '1');
  const followed = new FollowedConfigMaps(server.client);
  await followed.have({ a: '1' });
  await server.faults.requested({ verb: 'watch', status: 200 });
  return followed;
}

describe('a watcher of @asterism/runtime, when its watch', { timeout: 20_000 }, () => {
  const resumed: [string, AnswerFault][] = [
    ['ends', { kind: 'end' }],
    ['is reset with its connection', { kind: 'reset' }],
    ['brings half a frame and is reset', { kind: 'half-frame' }],
    ['brings half a frame and ends', { kind: 'half-frame', ending: 'end' }],
    ['brings ERROR 500', { kind: 'error-event', code: 500 }],
  ];
  for (const [what, fault] of resumed) {
    test(`${what}: goes on from there without a list`, async () => {
      await using followed = await follow();
      const struck = await server.faults.strike(fault, WATCHES);
      assert.equal(struck.hits, 1);
      await put('a', '2');
      await put('b', '1');
      await followed.have({ a: '2', b: '1' });
      assert.equal(server.faults.requests(LISTS).length, 1);
      assert.equal(server.faults.requests(WATCHES).length, 2);
    });
  }

  test('brings ERROR 410 before anything else: lists anew', async () => {
    await using followed = await follow();
    await server.faults.strike({ kind: 'error-event', code: 410 }, WATCHES);
    await followed.failed();
    assert.ok(isStatusError(followed.errors[0], 'Expired'));
    await put('a', '2');
    await followed.have({ a: '2' });
    assert.equal(server.faults.requests(LISTS).length, 2);
  });

  test('is silent: hears all of it when that ends', async () => {
    await using followed = await follow();
    const silence = await server.faults.strike({ kind: 'silence' }, WATCHES);
    await put('a', '2');
    await put('b', '1');
    await server.client.resource(CONFIG_MAPS).list();
    assert.equal(followed.values.get('a'), '1');
    silence.lift();
    await followed.have({ a: '2', b: '1' });
    assert.equal(server.faults.requests(WATCHES).length, 1);
  });

  test('is silent past its time: opens another', async () => {
    await using followed = await follow();
    await server.faults.strike({ kind: 'silence' }, WATCHES);
    await put('a', '2');
    followed.clock.advance(305_000);
    await followed.have({ a: '2' });
    assert.equal((followed.errors[0] as ClientError).code, 'ERR_WATCH_SILENT');
    assert.equal(server.faults.requests(LISTS).length, 1);
  });

  test('is slow: hears all of it, byte by byte', async () => {
    await using followed = await follow();
    const slow = await server.faults.strike({ kind: 'slow-reader', bytesPerSecond: 10 }, WATCHES);
    await put('a', '2');
    await server.client.resource(CONFIG_MAPS).list();
    assert.equal(followed.values.get('a'), '1');
    slow.lift();
    await followed.have({ a: '2' });
  });

  test('is so slow that the server ends it: hears the rest from another, without a list', async () => {
    await using followed = await follow();
    const slow = await server.faults.strike({ kind: 'slow-reader', bytesPerSecond: 1 }, WATCHES);
    const padding = 'x'.repeat(900_000);
    for (let count = 2; count < 30; count++) await put('a', `${count}${padding}`);
    await put('a', 'last');
    slow.lift();
    await followed.have({ a: 'last' });
    assert.equal(server.faults.requests(LISTS).length, 1);
    assert.equal(server.faults.requests(WATCHES).length, 2);
  });
});

describe('a watcher of @asterism/runtime, when the server', { timeout: 20_000 }, () => {
  test('answers 410: lists anew, and finds out what was deleted meanwhile', async () => {
    await using followed = await follow();
    await put('b', '1');
    await followed.have({ a: '1', b: '1' });
    const gone = server.faults.inject({ kind: 'status', code: 410 }, WATCHES);
    await server.faults.strike({ kind: 'end' }, WATCHES);
    await gone.hit();
    await remove('b');
    await followed.have({ a: '1' });
    assert.equal(server.faults.requests(LISTS).length, 2);
  });

  test('has forgotten its history: the same', async () => {
    await using followed = await follow();
    const away = server.faults.inject(
      { kind: 'silence' },
      { resource: 'configmaps' },
      { times: Number.POSITIVE_INFINITY },
    );
    await server.faults.strike({ kind: 'reset' }, WATCHES);
    await away.hit();
    await put('b', '1');
    await remove('a');
    server.faults.compact();
    await put('c', '1');
    away.lift();
    await followed.have({ b: '1', c: '1' });
    assert.equal(server.faults.requests(LISTS).length, 2);
    assert.ok(followed.errors.some((error) => isStatusError(error, 'Expired')));
  });

  for (const match of [LISTS, WATCHES]) {
    const what = match === LISTS ? 'list' : 'watch';
    test(`answers a ${what} 429: comes again when it is told to`, async () => {
      await put('a', '1');
      server.faults.inject({ kind: 'status', code: 429, retryAfterSeconds: 7 }, match);
      await using followed = new FollowedConfigMaps(server.client);
      await server.faults.requested(match, 2);
      await put('b', '1');
      await followed.have({ a: '1', b: '1' });
      assert.deepEqual(followed.waits, [7_000]);
    });

    test(`answers a ${what} 500, three times: tries again, later each time`, async () => {
      await put('a', '1');
      server.faults.inject({ kind: 'status', code: 500 }, match, { times: 3 });
      await using followed = new FollowedConfigMaps(server.client);
      await server.faults.requested(match, 4);
      await put('b', '1');
      await followed.have({ a: '1', b: '1' });
      assert.deepEqual(followed.waits, [800, 1600, 3200]);
    });
  }

  test('sends half a list: lists again', async () => {
    await put('a', '1');
    server.faults.inject({ kind: 'half-frame', ending: 'end' }, LISTS);
    await using followed = new FollowedConfigMaps(server.client);
    await followed.have({ a: '1' });
    assert.equal(server.faults.requests(LISTS).length, 2);
    assert.equal(followed.errors.length, 1);
  });

  test('sends GOAWAY: the watch goes on, what is new takes another connection', async () => {
    await using followed = await follow();
    assert.ok(server.faults.goAway() >= 2);
    await server.client.resource(CONFIG_MAPS).list();
    await put('a', '2');
    await followed.have({ a: '2' });
    assert.equal(server.faults.requests(WATCHES).length, 1);
    assert.equal(server.faults.goAway(), 1, 'one that was told so is not told again');
  });

  test('sends GOAWAY and hangs up: goes on without a list', async () => {
    await using followed = await follow();
    assert.ok(server.faults.goAway({ hangUp: true }) >= 2);
    await followed.failed();
    await put('a', '2');
    await followed.have({ a: '2' });
    assert.equal(server.faults.requests(WATCHES).length, 2);
    assert.equal(server.faults.requests(LISTS).length, 1);
  });

  test('resets all connections: goes on without a list', async () => {
    await using followed = await follow();
    assert.ok(server.faults.resetConnections() >= 2);
    await put('a', '2');
    await followed.have({ a: '2' });
    assert.equal(server.faults.requests(WATCHES).length, 2);
    assert.equal(server.faults.requests(LISTS).length, 1);
  });

  test('freezes: finds out by PING, and goes on when it thaws', async () => {
    await put('a', '1');
    const transport = createTransport(server.connection, { pingIdleMs: 30, pingTimeoutMs: 30, connectTimeoutMs: 100 });
    await using followed = new FollowedConfigMaps(createClient({ transport }));
    await followed.have({ a: '1' });
    await server.faults.requested({ verb: 'watch', status: 200 });
    const frozen = server.faults.freeze();
    await put('a', '2');
    await followed.failed(2);
    assert.equal((followed.errors[0] as ClientError).code, 'ERR_PING_TIMEOUT');
    frozen.lift();
    await followed.have({ a: '2' });
    assert.equal(server.faults.requests(LISTS).length, 1);
    await transport.close();
  });
});

describe('half an answer', { timeout: 20_000 }, () => {
  for (const ending of ['reset', 'end'] as const) {
    const what = ending === 'reset' ? 'cannot be taken for a whole one' : 'can be taken for a whole one';
    test(`that has a ${ending} behind it ${what}, in HTTP/2 and HTTP/1.1`, async () => {
      const path = '/api/v1/namespaces/default';
      const wholeSize = (await readAnswer(http2Get(path))).size;
      server.faults.inject({ kind: 'half-frame', ending }, {}, { times: 2 });
      const half = { size: Math.ceil(wholeSize / 2), isCut: ending === 'reset' };
      assert.deepEqual(await readAnswer(http2Get(path)), half);
      assert.deepEqual(await readAnswer(http1Get(path)), half);
    });
  }
});

async function http2Get(path: string): Promise<AsyncIterable<Uint8Array>> {
  return (await server.client.request({ method: 'GET', path })).body;
}

async function http1Get(path: string): Promise<AsyncIterable<Uint8Array>> {
  const authorization = `Bearer ${server.tokenFor({ username: 'admin', groups: ['system:masters'] })}`;
  const request = get(server.url + path, { ca: server.ca.cert, agent: false, headers: { authorization } });
  const [response] = await once(request, 'response');
  return response;
}

/** How much of an answer came, and whether it broke off. */
async function readAnswer(answer: Promise<AsyncIterable<Uint8Array>>): Promise<{ size: number; isCut: boolean }> {
  let size = 0;
  try {
    for await (const piece of await answer) size += piece.length;
  } catch {
    return { size, isCut: true };
  }
  return { size, isCut: false };
}

describe('a write, when its connection is reset', { timeout: 20_000 }, () => {
  const rows: [string, RequestFault, boolean][] = [
    ['before it is worked on: is not done', { kind: 'reset' }, false],
    ['before its answer has left: is done all the same', { kind: 'lost-answer' }, true],
  ];
  for (const [what, fault, isDone] of rows) {
    test(what, async () => {
      server.faults.inject(fault, { verb: 'create', resource: 'configmaps' });
      const object = { metadata: { name: 'a', namespace: 'default' } };
      await assert.rejects(server.client.resource(CONFIG_MAPS).create(object), ClientError);
      const names = (await server.client.resource(CONFIG_MAPS).list()).items.map(({ metadata }) => metadata?.name);
      assert.equal(names.includes('a'), isDone);
    });
  }
});

describe('faults', { timeout: 20_000 }, () => {
  test('befall those that match, as often as was said, until they are lifted', async () => {
    const configMaps = server.client.resource(CONFIG_MAPS);
    const alice = server.clientAs({ username: 'alice', groups: ['system:masters'] }).resource(CONFIG_MAPS);
    const get = { namespace: 'default', name: 'a' };
    await put('a', '1');
    using fault = server.faults.inject(
      { kind: 'status', code: 503 },
      { user: 'alice', verb: 'get', name: 'a' },
      { times: 2 },
    );
    await configMaps.get(get);
    await alice.list();
    await assert.rejects(alice.get(get), (error) => isStatusError(error, 'ServiceUnavailable'));
    assert.equal(fault.hits, 1);
    fault.lift();
    await alice.get(get);
    assert.deepEqual(
      server.faults.requests({ verb: 'get' }).map(({ user, status }) => [user, status]),
      [
        ['admin', 200],
        ['alice', 503],
        ['alice', 200],
      ],
    );
  });

  test('that strike one after the other hit one watch after the other', async () => {
    await using followed = await follow();
    const kinds = ['end', 'reset', 'error-event', 'end'] as const;
    for (const kind of kinds)
      await server.faults.strike(kind === 'error-event' ? { kind, code: 500 } : { kind }, WATCHES);
    await put('a', '2');
    await followed.have({ a: '2' });
    await server.faults.requested({ verb: 'watch', status: 200 }, kinds.length + 1);
  });

  test('leave calls within the process alone', async () => {
    server.faults.inject({ kind: 'status', code: 500 }, {}, { times: Number.POSITIVE_INFINITY });
    using _frozen = server.faults.freeze();
    await put('a', '1');
  });

  test('that make no sense are refused', async () => {
    const { faults } = server;
    assert.throws(
      () => faults.inject({ kind: 'status', code: 200 }),
      /`code` of a fault is an HTTP status from 400 to 599, not 200/,
    );
    assert.throws(
      () => faults.inject({ kind: 'status', code: 429, retryAfterSeconds: 0.5 }),
      /a whole number, not 0\.5/,
    );
    assert.throws(() => faults.inject({ kind: 'reset' }, {}, { times: 0 }), /at least once, not 0 times/);
    await assert.rejects(
      faults.strike({ kind: 'slow-reader', bytesPerSecond: 0 }),
      /above 0, not 0; or is it `silence`/,
    );
  });

  test('that wait for a watch end with the server', async () => {
    const struck = server.faults.strike({ kind: 'end' });
    await server.stop();
    await assert.rejects(struck, /the test server was stopped/);
  });

  test('hold up no stop', async () => {
    server.faults.inject({ kind: 'silence' });
    const unanswered = server.client.resource(CONFIG_MAPS).list();
    unanswered.catch(() => {});
    await server.faults.requested({ verb: 'list' });
    server.faults.freeze();
    const began = performance.now();
    await server.stop();
    assert.ok(performance.now() - began < 1_000);
  });
});

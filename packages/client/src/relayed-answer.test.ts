import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { relayedAnswer, relayedSwitch } from './relayed-answer.ts';
import type { Headers } from './transport.ts';

const INVALID = { code: 'ERR_INVALID_ANSWER' };

function answer(status: number, headers: Headers, ...pieces: string[]) {
  return { status, headers, body: Readable.from(pieces.map((piece) => Buffer.from(piece))) };
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

describe('an answer that no proxy passes on', () => {
  const rows: [string, number, Headers][] = [
    ['100 that nobody asked for', 100, {}],
    ['101 that nobody asked for', 101, { upgrade: 'websocket' }],
    ['103', 103, {}],
    ['199', 199, {}],
    ['no status', Number.NaN, {}],
    ['a status beyond those of HTTP', 600, {}],
    ['two lengths', 200, { 'content-length': ['5', '6'] }],
    ['the same length twice, in one line', 200, { 'content-length': '5, 5' }],
    ['a length with a sign', 200, { 'content-length': '+5' }],
    ['a length in hexadecimal', 200, { 'content-length': '0x5' }],
    ['an empty length', 200, { 'content-length': '' }],
    ['an endless length', 200, { 'content-length': '9'.repeat(30) }],
    ['a length and a transfer coding', 200, { 'content-length': '5', 'transfer-encoding': 'chunked' }],
    ['a line break in a header', 200, { x: 'a\r\nset-cookie: b' }],
    ['a header name that is none', 200, { 'a b': 'c' }],
  ];
  for (const [name, status, headers] of rows) {
    test(name, () => {
      const given = answer(status, headers, 'hello');
      assert.throws(() => relayedAnswer(given, { method: 'GET' }), INVALID);
      assert.equal(given.body.destroyed, true);
    });
  }
  test('a whole body of another length', () => {
    const bytes = Buffer.from('hello!');
    const given = { ...answer(200, { 'content-length': '5' }), bytes };
    assert.throws(() => relayedAnswer(given, { method: 'GET' }), INVALID);
  });
});

describe('a body', () => {
  test('of the length that was said arrives, and one without a length', async () => {
    for (const headers of [{ 'content-length': '5' }, {}]) {
      assert.equal(await textOf(relayedAnswer(answer(200, headers, 'he', 'llo'), { method: 'GET' }).body), 'hello');
    }
  });
  test('that is shorter, or longer in its last piece, ends in an error', async () => {
    for (const pieces of [['he'], ['hello!'], ['he', 'llo HTTP/1.1 200 OK']]) {
      const given = answer(200, { 'content-length': '5' }, ...pieces);
      await assert.rejects(textOf(relayedAnswer(given, { method: 'GET' }).body), INVALID);
      assert.equal(given.body.destroyed, true);
    }
  });
  test('ends with its last byte, and what comes later goes nowhere', async () => {
    const body = new PassThrough();
    body.write('hello');
    const given = { status: 200, headers: { 'content-length': '5' }, body };
    assert.equal(await textOf(relayedAnswer(given, { method: 'GET' }).body), 'hello');
    body.write('HTTP/1.1 200 OK\r\n\r\n');
    if (!body.closed) await once(body, 'close');
  });
  test('is not there behind 204, 205 and 304, and HEAD keeps its length', async () => {
    for (const status of [204, 205, 304]) {
      const passed = relayedAnswer(answer(status, { 'content-length': '5' }, 'hello'), { method: 'GET' });
      assert.deepEqual([passed.headers, passed.bytes?.length], [{}, 0]);
    }
    const head = relayedAnswer(answer(200, { 'content-length': '5' }), { method: 'HEAD' });
    assert.equal(head.headers['content-length'], '5');
  });
});

test('headers that speak for the origin of the proxy are dropped; those about the answer are kept', () => {
  const dropped = [
    'access-control-allow-origin',
    'alt-svc',
    'clear-site-data',
    'content-security-policy',
    'cross-origin-opener-policy',
    'nel',
    'proxy-authenticate',
    'public-key-pins',
    'refresh',
    'report-to',
    'sec-session-registration',
    'service-worker-allowed',
    'set-cookie',
    'strict-transport-security',
    'transfer-encoding',
    'www-authenticate',
  ];
  const kept = [
    'cache-control',
    'content-type',
    'etag',
    'retry-after',
    'vary',
    'warning',
    'x-kubernetes-pf-flowschema-uid',
  ];
  const headers = Object.fromEntries([...dropped, ...kept].map((name) => [name.toUpperCase(), 'a']));
  headers['CONTENT-TYPE'] = 'application/json';
  const passed = relayedAnswer(answer(200, headers), { method: 'GET' });
  assert.deepEqual(Object.keys(passed.headers).sort(), kept);
});

test('a location stays below the proxy', () => {
  const rows: [string, string | undefined][] = [
    ['/login?x=../y', '/proxy/login?x=../y'],
    ['next', 'next'],
    ['../up', undefined],
    ['/a/%2e%2E/b', undefined],
    ['//evil.example', undefined],
    ['/\\evil.example', undefined],
    ['\\\\evil.example', undefined],
    ['https://evil.example/', undefined],
    ['javascript:alert(1)', undefined],
  ];
  for (const [location, expected] of rows) {
    const { headers } = relayedAnswer(answer(302, { location }), { method: 'GET', root: '/proxy' });
    assert.equal(headers['location'], expected, location);
  }
  const origin = 'https://grafana:443';
  const named: [string, string | undefined][] = [
    ['https://grafana/login?x#y', '/proxy/login?x#y'],
    ['HTTPS://Grafana:443', '/proxy/'],
    ['https://grafana/../../up', '/proxy/up'],
    ['https://grafana//evil.example', undefined],
    ['https://me@grafana.evil.example/', undefined],
    ['http://grafana/', undefined],
    ['https://grafana:444/', undefined],
    ['https://evil.example/', undefined],
    ['javascript:alert(1)', undefined],
  ];
  for (const [location, expected] of named) {
    const { headers } = relayedAnswer(answer(302, { location }), { method: 'GET', root: '/proxy', origin });
    assert.equal(headers['location'], expected, location);
  }
});

test('a browser runs nothing of an answer on the origin of the proxy', () => {
  const sandbox = { 'content-security-policy': 'sandbox', 'x-content-type-options': 'nosniff' };
  const rows: [type: Headers[string], more: Headers, isSandboxed: boolean][] = [
    ['application/json', {}, false],
    ['application/json;stream=watch', {}, false],
    ['application/vnd.kubernetes.protobuf', {}, false],
    ['text/plain; charset=utf-8', { 'x-content-type-options': 'nosniff' }, false],
    ['text/plain', {}, true],
    ['text/html', {}, true],
    ['TEXT/HTML; charset=utf-8', { 'content-security-policy': "script-src 'unsafe-inline'" }, true],
    ['image/svg+xml', {}, true],
    ['application/xhtml+xml', {}, true],
    ['application/json, text/html', {}, true],
    ['application/jsonx', {}, true],
    [['application/json', 'text/html'], {}, true],
    [undefined, {}, true],
  ];
  for (const [type, more, isSandboxed] of rows) {
    for (const status of [200, 404, 502]) {
      const given = answer(status, { 'content-type': type, ...more }, '<script>');
      const { 'content-type': _, ...headers } = relayedAnswer(given, { method: 'GET' }).headers;
      assert.deepEqual(headers, isSandboxed ? sandbox : more, `${String(type)} ${status}`);
    }
  }
});

test('a switch is one to a protocol that was asked for', () => {
  const switched = (upgrade: string | string[] | undefined, more: Headers = {}) => ({
    status: 101 as const,
    headers: { connection: 'Upgrade', upgrade, ...more },
    socket: new PassThrough(),
  });
  const passed = relayedSwitch(
    switched('WebSocket', { 'sec-websocket-accept': 'x', 'set-cookie': 'a', 'content-length': '5' }),
    'websocket',
  );
  assert.deepEqual(passed, { connection: 'Upgrade', upgrade: 'WebSocket', 'sec-websocket-accept': 'x' });
  for (const [upgrade, asked] of [
    ['h2c', 'websocket'],
    [undefined, 'websocket'],
    ['websocket', undefined],
    ['a, b', 'a'],
  ] as const) {
    const given = switched(upgrade);
    assert.throws(() => relayedSwitch(given, asked), INVALID);
    assert.equal(given.socket.destroyed, true);
  }
  assert.throws(() => relayedSwitch(switched('websocket', { x: 'a\nb' }), 'websocket'), INVALID);
});

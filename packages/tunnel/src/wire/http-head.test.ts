import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { formatRequestHead, formatResponseHead, parseRequestHead, parseResponseHead, readHead } from './http-head.ts';

const HEAD = 'POST /exec?a=b HTTP/1.1\r\nHost: x\r\nX-A: 1\r\nx-a: 2\r\n\r\n';

test('a head that comes in any pieces is read, blank lines before it are counted, the rest is left', async () => {
  const bytes = Buffer.from(`\r\n\r\n${HEAD}rest`);
  for (let cut = 1; cut < bytes.length; cut += 1) {
    const socket = new PassThrough();
    let blank = 0;
    const head = readHead(socket, { maxBytes: 1000, onBlankLine: () => (blank += 1) });
    socket.write(bytes.subarray(0, cut));
    await new Promise((resolve) => setImmediate(resolve));
    socket.end(bytes.subarray(cut));
    assert.deepEqual(parseRequestHead(await head), {
      method: 'POST',
      path: '/exec?a=b',
      headers: { host: 'x', 'x-a': ['1', '2'] },
    });
    assert.equal(blank, 2);
    assert.equal(String(Buffer.concat(await socket.toArray())), 'rest');
  }
});

test('a head that is too large, cut short or aborted is an error', async () => {
  const large = new PassThrough();
  const tooLarge = assert.rejects(readHead(large, { maxBytes: 20 }), { code: 'ERR_TUNNEL_LIMIT' });
  large.write('GET / HTTP/1.1\r\nx: 12\r\n\r\n');
  await tooLarge;

  const endless = new PassThrough();
  const noEnd = assert.rejects(readHead(endless, { maxBytes: 20 }), { code: 'ERR_TUNNEL_LIMIT' });
  endless.write('x'.repeat(21));
  await noEnd;

  const short = new PassThrough();
  const cut = assert.rejects(readHead(short, { maxBytes: 20 }), { code: 'ERR_TUNNEL_LOST' });
  short.end('GET / HT');
  await cut;

  const abort = new AbortController();
  const aborted = assert.rejects(readHead(new PassThrough(), { maxBytes: 20, signal: abort.signal }), /enough/);
  abort.abort(new Error('enough'));
  await aborted;
  await assert.rejects(readHead(new PassThrough().destroy(), { maxBytes: 20 }), { code: 'ERR_TUNNEL_LOST' });
});

test('what is formatted is parsed', () => {
  const request = { method: 'GET', path: '/a?b=%20', headers: { a: ['1', '2, 3'], b: 'x: y' } };
  assert.deepEqual(parseRequestHead(formatRequestHead(request).trimEnd().split('\r\n')), request);
  const response = { status: 101, headers: { upgrade: 'SPDY/3.1' } };
  assert.deepEqual(parseResponseHead(formatResponseHead(response).trimEnd().split('\r\n')), response);
});

const MALFORMED: [string, () => unknown][] = [
  ['method', () => formatRequestHead({ method: 'GET /x', path: '/', headers: {} })],
  ['path with a space', () => formatRequestHead({ method: 'GET', path: '/a b', headers: {} })],
  ['path with a line break', () => formatRequestHead({ method: 'GET', path: '/a\r\nx: y', headers: {} })],
  ['header with a line break', () => formatRequestHead({ method: 'GET', path: '/', headers: { a: 'b\r\nc: d' } })],
  ['request line', () => parseRequestHead(['SSH-2.0'])],
  ['version', () => parseRequestHead(['GET / HTTP/2.0'])],
  ['status line', () => parseResponseHead(['HTTP/1.1 9999 x'])],
  ['header without colon', () => parseResponseHead(['HTTP/1.1 200 OK', 'x'])],
  ['folded header', () => parseResponseHead(['HTTP/1.1 200 OK', 'a: b', ' c: d'])],
  ['space before the colon', () => parseResponseHead(['HTTP/1.1 200 OK', 'a : b'])],
];
for (const [name, act] of MALFORMED) {
  test(`malformed: ${name}`, () => assert.throws(act, { code: 'ERR_TUNNEL_PROTOCOL' }));
}

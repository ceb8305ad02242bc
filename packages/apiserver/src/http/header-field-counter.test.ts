import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http2';
import { test } from 'node:test';
import type { ApiRequest, ApiResponse } from './api-request.ts';
import { countFields, HeaderFieldCounter } from './header-field-counter.ts';
import { fine, open, openHttp2, start } from './test-listener.ts';

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** A header field as a literal that enters no table, its text without Huffman's code. */
function literal(name: string, value: string): Buffer {
  const [key, text] = [Buffer.from(name, 'latin1'), Buffer.from(value, 'latin1')];
  return Buffer.concat([Buffer.from([0, key.length]), key, Buffer.from([text.length]), text]);
}

function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** `:method GET`, `:scheme https`, `:path /`, `:authority a`. */
const PSEUDO = Buffer.concat([Buffer.from([0x82, 0x87, 0x84]), literal(':authority', 'a')]);

test('fields are counted by their shape', () => {
  const rows: [string, number[], number][] = [
    ['nothing', [], 0],
    ['indexed', [0x82, 0xff, 0x80, 0x01], 2],
    ['a change of the table is no field', [0x3f, 0xe1, 0x1f, 0x82], 1],
    ['literal, indexed, with a name of the table', [0x41, 1, 97], 1],
    ['literal, indexed, with a new name', [0x40, 1, 97, 1, 98], 1],
    ['never indexed', [0x10, 1, 97, 1, 98], 1],
    ['an empty value', [0x00, 1, 97, 0], 1],
    ['cut off in its value', [0x00, 1, 97, 3, 98], -1],
    ['cut off before its value', [0x00, 1, 97], -1],
    ['an integer without end', [0xff, 0xff], -1],
  ];
  for (const [name, bytes, count] of rows) assert.equal(countFields(Buffer.from(bytes)), count, name);
});

test('blocks are counted however their bytes come: padded, with a priority, in several frames, byte by byte', () => {
  const fields = Buffer.concat([PSEUDO, literal('x', 'y')]);
  const sent = Buffer.concat([
    PREFACE,
    frame(4, 0, 0),
    frame(1, 0x4 | 0x8 | 0x20, 1, Buffer.concat([Buffer.from([3, 0, 0, 0, 0, 9]), fields, Buffer.alloc(3)])),
    frame(0, 0, 1, Buffer.alloc(300)),
    frame(1, 0x5, 3, PSEUDO),
    frame(1, 0x1, 5, fields.subarray(0, 2)),
    frame(9, 0, 5, fields.subarray(2, 7)),
    frame(9, 0x4, 5, fields.subarray(7)),
  ]);
  for (const size of [1, 2, 7, 100, sent.length]) {
    const counter = new HeaderFieldCounter();
    for (let at = 0; at < sent.length; at += size) counter.push(sent.subarray(at, at + size));
    assert.equal(counter.of(1), 5, `in pieces of ${size}`);
    assert.equal(counter.of(5), 5, 'and that of stream 3 was never asked for');
    assert.equal(counter.of(7), -1);
  }
});

/** The status that a request of these fields gets over HTTP/2, and the headers that a handler saw. */
async function ask(t: Parameters<typeof start>[0], fields: readonly Buffer[]) {
  let seen: ApiRequest['headers'] | undefined;
  const running = await start(t, ({ headers }): Promise<ApiResponse> => {
    seen = headers;
    return fine();
  });
  const socket = await open(running, 'h2');
  t.after(() => socket.destroy());
  const block = Buffer.concat([PSEUDO, ...fields]);
  socket.write(Buffer.concat([PREFACE, frame(4, 0, 0), frame(1, 0x5, 1, block)]));
  let received = Buffer.alloc(0);
  for await (const piece of socket) {
    received = Buffer.concat([received, piece as Buffer]);
    for (let at = 0; at + 9 <= received.length; at += 9 + received.readUIntBE(at, 3)) {
      const type = received[at + 3];
      if (received.readUInt32BE(at + 5) !== 1) continue;
      if (type === 3) return { status: 'reset', seen };
      // `:status` comes first: of the table (200, 400), or with a text of its own.
      if (type === 1) return { status: received[at + 9] === 0x88 ? 200 : 'other', seen };
    }
  }
  return { status: 'closed', seen };
}

for (const [name, field] of [
  ['a control character in a user name', literal('impersonate-user', 'bob\x7f')],
  ['a line break in a group', literal('impersonate-group', 'a\nb')],
  ['NUL in an extra value', literal('impersonate-extra-k', '\0')],
  ['a blank in a header name', literal('impersonate-extra-a b', 'v')],
  ['a byte that no header name holds', literal('impersonate-user\x80', 'bob')],
  ['a capital in a header name', literal('Impersonate-User', 'bob')],
  ['an empty header name', literal('', 'bob')],
] as const) {
  test(`a request with ${name} is refused, and no handler sees it`, async (t) => {
    const { status, seen } = await ask(t, [field]);
    assert.notEqual(status, 200);
    assert.equal(seen, undefined);
  });
}

test('blanks at the ends of a value, and bytes beyond ASCII, arrive', async (t) => {
  const { status, seen } = await ask(t, [literal('impersonate-user', ' b\xc3\xbc\t'), literal('x', 'y')]);
  assert.equal(status, 200);
  assert.equal(seen?.['impersonate-user']?.toString(), ' b\xc3\xbc\t');
});

test('requests of a real client are counted right, with a table that fills and is emptied', async (t) => {
  const running = await start(t, fine);
  const session = openHttp2(t, running);
  for (let round = 0; round < 60; round++) {
    const more: IncomingHttpHeaders = {
      [`x-${round % 7}`]: 'v'.repeat(round * 40),
      cookie: 'a=b; c=d',
      te: 'trailers',
    };
    const stream = session.request({ ':path': `/${round}`, 'impersonate-group': ['a', 'b', String(round)], ...more });
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
    assert.equal(headers[':status'], 200, `round ${round}`);
    stream.resume();
  }
});

test('over HTTP/1.1 no header is dropped because there are many', async (t) => {
  const running = await start(t, ({ headers }) =>
    String(headers['impersonate-user']) === 'bob' ? fine() : Promise.reject(new Error('dropped')),
  );
  const socket = await open(running);
  t.after(() => socket.destroy());
  const many = (count: number): string => Array.from({ length: count }, (_, index) => `x-${index}: y\r\n`).join('');
  for (const [count, status] of [
    [900, 200],
    [1_500, 431],
  ] as const) {
    socket.write(`GET / HTTP/1.1\r\nhost: a\r\n${many(count)}impersonate-user: bob\r\n\r\n`);
    const [piece] = (await once(socket, 'data')) as [Buffer];
    assert.match(piece.toString(), new RegExp(`^HTTP/1.1 ${status} `));
  }
});

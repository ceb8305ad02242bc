import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import type { ApiRequest, ApiResponse } from '../../contract/api-request.ts';
import { fine, open, start } from './test-listener.ts';

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

test('blanks at the ends of a value, and bytes beyond ASCII, arrive', async (t) => {
  const { status, seen } = await ask(t, [literal('impersonate-user', ' b\xc3\xbc\t'), literal('x', 'y')]);
  assert.equal(status, 200);
  assert.equal(seen?.['impersonate-user']?.toString(), ' b\xc3\xbc\t');
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

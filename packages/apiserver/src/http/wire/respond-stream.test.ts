import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2';
import { buffer } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { openHttp2, start } from './test-listener.ts';

const ANSWER = Buffer.alloc(20_000, 'answer ');

describe('an answer to a request whose body nobody reads', () => {
  for (const [size, rounds] of [
    [0, 100],
    [200, 100],
    [20_000, 50],
    [5_000_000, 20],
  ] as const) {
    test(`of ${size} bytes comes whole, every time`, async (t) => {
      const running = await start(t, () => Promise.resolve({ status: 406, headers: {}, body: ANSWER }));
      const session = openHttp2(t, running);
      const body = Buffer.alloc(size);
      const ask = async (): Promise<void> => {
        const stream = session.request({ ':method': 'POST', ':path': '/' });
        stream.end(body);
        const whole = { status: 406, length: ANSWER.length, code: constants.NGHTTP2_NO_ERROR };
        assert.deepEqual(await readAnswer(stream), whole);
      };
      // What a Node client holds for its streams is limited, so the large come one after another.
      const together = size > 1_000_000 ? 1 : 4;
      for (let round = 0; round < rounds; round++) await Promise.all(Array.from({ length: together }, ask));
    });
  }
});

test('a request that never ends is told, once its answer has left, that nobody waits for the rest', async (t) => {
  const running = await start(t, () => Promise.resolve({ status: 406, headers: {}, body: ANSWER }));
  const stream = openHttp2(t, running).request({ ':method': 'POST', ':path': '/' });
  stream.write('a part');
  const whole = { status: 406, length: ANSWER.length, code: constants.NGHTTP2_NO_ERROR };
  assert.deepEqual(await readAnswer(stream), whole);
});

async function readAnswer(stream: ClientHttp2Stream): Promise<{ status: unknown; length: number; code: unknown }> {
  const [{ length }, [headers]] = (await Promise.all([
    buffer(stream),
    once(stream, 'response'),
    once(stream, 'close'),
  ])) as [Buffer, [IncomingHttpHeaders], unknown];
  return { status: headers[':status'], length, code: stream.rstCode };
}

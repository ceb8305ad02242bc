import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { eachLine, type OnLine } from './each-line.ts';

const SERVER = 'https://fake.test';

function following(onLine: (line: string, body: Readable) => void | Promise<void>, signal?: AbortSignal) {
  const body = new Readable({ read() {} });
  const told: string[] = [];
  const tell: OnLine = (line) => {
    told.push(line.toString());
    return onLine(line.toString(), body);
  };
  const done = eachLine(body, { server: SERVER, signal }, tell);
  done.catch(() => {}); // looked at later
  return { body, told, done };
}

describe('eachLine', () => {
  const pieces: [string, string[], string[]][] = [
    ['several lines in a chunk', ['a\nb\n\nc\n'], ['a', 'b', 'c']],
    ['a line in many chunks', ['a', 'b', 'c\nd', '\n'], ['abc', 'd']],
    ['a letter in two chunks', ['\xc3', '\xa4\n'], ['ä']],
    ['a last line without its end', ['a\nb'], ['a', 'b']],
    ['nothing', [], []],
    ['empty lines', ['\n', '\n\n'], []],
  ];
  for (const [name, chunks, expected] of pieces) {
    for (const [how, onLine] of [
      ['', () => {}],
      [', each waited for', () => turn()],
    ] as const) {
      test(`${name}${how}`, async () => {
        const { body, told, done } = following(onLine);
        for (const chunk of chunks) body.push(Buffer.from(chunk, 'latin1'));
        body.push(null);
        await done;
        assert.deepEqual(told, expected);
      });
    }
  }

  test('a line without an end is refused, and the request ended', async () => {
    const { body, told, done } = following(() => {});
    const chunk = Buffer.alloc(8 * 1024 * 1024, 'x');
    for (let i = 0; i < 2; i++) body.push(chunk);
    body.push('x');
    await assert.rejects(done, { code: 'ERR_READ_LIMIT', message: /https:\/\/fake.test sent a line of more than/ });
    assert.ok(body.destroyed);
    assert.deepEqual(told, []);
  });

  test('an end that comes while a line is waited for is behind the others of its chunk', async () => {
    const { body, told, done } = following(() => turn());
    body.push('a\nb\nc\nd');
    while (told.length < 2) await turn();
    body.push(null);
    await done;
    assert.deepEqual(told, ['a', 'b', 'c', 'd']);
  });

  test('all lines of a chunk are told in one turn', async () => {
    const turns: number[] = [];
    let now = 0;
    const { body, done } = following(() => void turns.push(now));
    const ticking = (async () => {
      for (; now < 5; now++) await Promise.resolve();
    })();
    body.push('a\nb\nc\n');
    body.push(null);
    await Promise.all([done, ticking]);
    assert.equal(new Set(turns).size, 1);
  });

  test('a line that is waited for: nothing more is told or read until then', async () => {
    const waits: (() => void)[] = [];
    const { body, told, done } = following(() => new Promise((resolve) => waits.push(resolve)));
    body.push('a\nb\n');
    body.push('c\n');
    body.push(null);
    for (const expected of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
      await turn();
      assert.deepEqual(told, expected);
      assert.ok(body.isPaused());
      waits.shift()?.();
    }
    await done;
  });

  test('what fails at a line ends the request', async () => {
    const reason = new Error('not that');
    const failures: ((line: string) => void | Promise<void>)[] = [
      () => {
        throw reason;
      },
      () => Promise.reject(reason),
    ];
    for (const fail of failures) {
      for (const text of ['a\nb\n', 'a']) {
        const { body, told, done } = following(fail);
        body.push(text);
        body.push(null);
        await assert.rejects(done, (error) => error === reason);
        assert.deepEqual(told, ['a']);
        assert.ok(body.destroyed);
      }
    }
  });

  test('a body that breaks off, before or after, is an error; with the signal, its reason', async () => {
    const broken = following(() => {});
    broken.body.push('a\nb');
    await turn();
    broken.body.destroy(Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
    await assert.rejects(broken.done, { name: 'ClientError', code: 'ECONNRESET' });
    assert.deepEqual(broken.told, ['a'], 'half a line is none');

    const closed = following(() => {});
    closed.body.destroy();
    await assert.rejects(closed.done, { code: 'ERR_CONNECTION_LOST' });
    await assert.rejects(
      eachLine(closed.body, { server: SERVER }, () => {}),
      { code: 'ERR_CONNECTION_LOST' },
    );

    const abort = new AbortController();
    const reason = new Error('enough');
    const left = following((_, body) => {
      abort.abort(reason);
      body.destroy(new Error('aborted'));
    }, abort.signal);
    left.body.push('a\nb\n');
    await assert.rejects(left.done, (error) => error === reason);
    assert.deepEqual(left.told, ['a'], 'nothing is told behind the end');
  });
});

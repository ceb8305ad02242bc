import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { splice } from './splice.ts';

/** A socket whose peer is this test. */
function fakeSocket(onWrite: (chunk: Buffer, done: (error?: Error) => void) => void): Duplex {
  return new Duplex({ read() {}, write: (chunk: Buffer, _encoding, done) => onWrite(chunk, done) });
}

test('a side that broke after its end: what it sent before still reaches a slow other side', async () => {
  const written: string[] = [];
  let finishWrite = (): void => {};
  const slow = fakeSocket((chunk, done) => {
    finishWrite = () => {
      written.push(chunk.toString());
      done();
    };
  });
  const gone = fakeSocket((_chunk, done) => done(new Error('EPIPE')));
  const done = splice(gone, slow);
  gone.push('one');
  gone.push('two');
  gone.push(null);
  await once(gone, 'end');
  slow.push('nobody takes this');
  await new Promise((resolve) => gone.once('close', resolve));
  assert.ok(!slow.destroyed);
  finishWrite();
  await new Promise((resolve) => setImmediate(resolve));
  finishWrite();
  await once(slow, 'finish');
  assert.deepEqual(written, ['one', 'two']);
  slow.push(null);
  await done;
});

test('a side that broke before its end breaks the other', async () => {
  const one = fakeSocket((_chunk, done) => done());
  const other = fakeSocket((_chunk, done) => done());
  const done = splice(one, other);
  one.push('half');
  one.destroy(new Error('ECONNRESET'));
  await done;
  assert.ok(other.destroyed && !other.writableFinished);
});

test('a side that is gone already breaks the other', async () => {
  const one = fakeSocket((_chunk, done) => done()).destroy();
  const other = fakeSocket((_chunk, done) => done());
  await splice(one, other);
  assert.ok(other.destroyed);
});

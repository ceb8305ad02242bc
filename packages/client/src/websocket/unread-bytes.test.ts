import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { UnreadBytes } from './unread-bytes.ts';

const KIB = 1024;

class Input extends Readable {
  readonly unread = new UnreadBytes(this);

  override _read(): void {
    this.unread.wake();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.unread.wake();
    callback(error);
  }
}

describe('bytes that are not read', () => {
  test('may be as many as 256 KiB; with more, whoever brings them waits until half of that is left', async () => {
    const input = new Input();
    for (let pushed = 0; pushed < 4; pushed++) assert.equal(input.unread.push(Buffer.alloc(64 * KIB)), undefined);
    let waits = true;
    const waiting = input.unread.push(Buffer.from('more'))?.then(() => {
      waits = false;
    });
    assert.ok(waiting);
    input.read(64 * KIB);
    await setImmediate();
    assert.ok(waits, 'with 192 KiB left');
    while (input.readableLength > 0) input.read();
    await waiting;
    assert.equal(input.unread.push(Buffer.alloc(64 * KIB)), undefined);
  });

  test('nobody waits for a reader that is gone', async () => {
    const input = new Input();
    const waiting = input.unread.push(Buffer.alloc(257 * KIB));
    assert.ok(waiting);
    input.destroy();
    await waiting;
    assert.equal(input.unread.push(Buffer.alloc(257 * KIB)), undefined);
  });

  test('no bytes are no end', () => {
    const input = new Input();
    assert.equal(input.unread.push(Buffer.alloc(0)), undefined);
    assert.equal(input.unread.push(Buffer.from('a')), undefined);
    assert.equal(String(input.read()), 'a');
  });
});

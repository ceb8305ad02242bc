import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ManualClock } from '@asterism/client/testing';
import { lineWriter } from './line-writer.ts';

/** A disk that takes only so many bytes until it is given more room. */
function smallDisk(room: number) {
  const disk = { room, text: '' };
  const clock = new ManualClock();
  const write = lineWriter((bytes) => {
    if (disk.room === 0) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    const taken = bytes.subarray(0, disk.room);
    disk.room -= taken.length;
    disk.text += Buffer.from(taken).toString();
    return taken.length;
  }, clock);
  return { disk, clock, write };
}

describe('the writer of log lines', () => {
  test('lines wait for room, and come whole and in order with the next one', () => {
    const { disk, write } = smallDisk(6);
    write('one\n');
    write('two\n');
    write('three\n');
    assert.equal(disk.text, 'one\ntw');
    disk.room = 100;
    write('four\n');
    assert.equal(disk.text, 'one\ntwo\nthree\nfour\n');
  });

  test('the last line waits for no other', () => {
    const { disk, clock, write } = smallDisk(0);
    write('last\n');
    clock.advance(100);
    disk.room = 100;
    clock.advance(100);
    assert.equal(disk.text, 'last\n');
    assert.deepEqual(clock.pending(), []);
  });

  test('nothing waits for a pipe without a reader', () => {
    const clock = new ManualClock();
    const write = lineWriter(() => {
      throw Object.assign(new Error('no reader'), { code: 'EPIPE' });
    }, clock);
    write('lost\n');
    assert.deepEqual(clock.pending(), []);
  });

  test('no more than a megabyte waits', () => {
    const { disk, write } = smallDisk(0);
    const line = `${'x'.repeat(1023)}\n`;
    for (let count = 0; count < 2_000; count += 1) write(line);
    disk.room = 1 << 22;
    write('after\n');
    assert.equal(disk.text.length, 1 << 20);
    write('now\n');
    assert.equal(disk.text.length, (1 << 20) + 4);
  });
});

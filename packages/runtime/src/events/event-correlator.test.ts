import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EventEvents } from '@asterism/machinery';
import { cutToBytes, EventCorrelator, type EventSeries } from './event-correlator.ts';

const MINUTE = 60_000;
const event = (note: string, more: Partial<EventEvents> = {}): EventEvents => ({
  eventTime: '',
  type: 'Normal',
  reason: 'Made',
  action: 'Make',
  note,
  regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'n', name: 'web', uid: 'u', resourceVersion: '1' },
  ...more,
});
const regarding = (name: string, resourceVersion = '1') => ({
  regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'n', name, uid: name, resourceVersion },
});

/** What the sink would have written. */
function write(result: EventSeries | 'later' | 'dropped', now = 0): EventSeries {
  assert.ok(typeof result === 'object', 'it is written now');
  return Object.assign(result, { written: result.count, writtenAt: now });
}

describe('a correlator of events', () => {
  test('A1: the same again counts; the first repetition is written, the next have time', () => {
    const correlator = new EventCorrelator(() => new Date(0));
    const first = write(correlator.observe(event('a'), 0));
    assert.equal(first.count, 1);
    assert.equal(write(correlator.observe(event('a', regarding('u')), 1)).count, 1);
    assert.equal(write(correlator.observe(event('a'), 2)), first);
    assert.equal(correlator.observe(event('a'), 3), 'later');
    assert.deepEqual([first.count, first.written, first.lastObserved], [3, 2, 3]);
    assert.deepEqual(correlator.unwritten(), [first]);
  });

  const differences: { name: string; other: EventEvents; same: boolean }[] = [
    { name: 'a newer version of the object', other: event('a', regarding('web', '2')), same: true },
    { name: 'another note', other: event('b'), same: false },
    { name: 'another reason', other: event('a', { reason: 'Lost' }), same: false },
    { name: 'another action', other: event('a', { action: 'Lose' }), same: false },
    { name: 'another type', other: event('a', { type: 'Warning' }), same: false },
    { name: 'another object', other: event('a', regarding('other')), same: false },
    { name: 'another related object', other: event('a', { related: { name: 'x' } }), same: false },
  ];
  for (const { name, other, same } of differences) {
    test(`A1: ${name} is ${same ? 'the same' : 'another'} event`, () => {
      const correlator = new EventCorrelator(() => new Date(0));
      const first = write(correlator.observe(event('a', regarding('web')), 0));
      assert.equal(write(correlator.observe(other, 1)) === first, same);
    });
  }

  test('A2: from the eleventh note on they are combined, until ten minutes are over', () => {
    const correlator = new EventCorrelator(() => new Date(0));
    const told = Array.from({ length: 13 }, (_, i) => correlator.observe(event(`no. ${i}`), i));
    const written = told.filter((each) => typeof each === 'object');
    assert.equal(written.length, 11);
    const [combined] = written.slice(-1);
    assert.equal(combined?.event.note, '(combined from similar events): no. 10');
    assert.deepEqual([combined?.count, told.slice(-2)], [3, ['later', 'later']]);
    assert.equal(correlator.observe(event('no. 3'), 14), 'later'); // A note that is known stays its own.
    assert.equal(combined?.count, 3);
    assert.equal(write(correlator.observe(event('no. 20'), 10 * MINUTE)).event.note, 'no. 20');
  });

  test('A3: an object has 25 new series at once and one in five minutes; others have their own', () => {
    const correlator = new EventCorrelator(() => new Date(0));
    const tell = (i: number, now: number, name = 'web') => {
      return correlator.observe(event('a', { reason: `Reason${i}`, ...regarding(name) }), now);
    };
    for (let i = 0; i < 25; i++) write(tell(i, 0));
    assert.equal(tell(25, 0), 'dropped');
    write(tell(25, 0, 'other'));
    assert.equal(tell(25, 4 * MINUTE), 'dropped');
    write(tell(25, 5 * MINUTE + 1));
    assert.equal(tell(26, 6 * MINUTE), 'dropped');
    assert.ok(typeof tell(24, 6 * MINUTE) === 'object', 'what is known is counted all the same');
  });

  test('A4: a series is due every five minutes, and six minutes after its end, and then forgotten', () => {
    const correlator = new EventCorrelator(() => new Date(0));
    const series = write(correlator.observe(event('a'), 0));
    write(correlator.observe(event('a'), 0));
    correlator.observe(event('a'), MINUTE);
    assert.deepEqual(correlator.due(4 * MINUTE), []);
    assert.deepEqual(correlator.due(5 * MINUTE), [series]);
    write(series, 5 * MINUTE);
    assert.deepEqual(correlator.due(6 * MINUTE), []);
    correlator.observe(event('a'), 6 * MINUTE);
    write(series, 11 * MINUTE);
    assert.equal(correlator.size, 1);
    assert.deepEqual(correlator.due(12 * MINUTE), []);
    assert.equal(correlator.size, 0);
    assert.notEqual(write(correlator.observe(event('a'), 13 * MINUTE)), series);
  });

  test('what it remembers is bounded', () => {
    const correlator = new EventCorrelator(() => new Date(0));
    for (let i = 0; i < 5_000; i++) correlator.observe(event('a', regarding(`pod-${i}`)), 0);
    assert.equal(correlator.size, 4_096);
  });
});

test('a text is cut between characters', () => {
  assert.equal(cutToBytes('abc', 3), 'abc');
  assert.equal(cutToBytes('abcd', 3), 'abc');
  assert.equal(cutToBytes('aéé', 4), 'aé');
  assert.equal(cutToBytes('日本', 5), '日');
  assert.equal(cutToBytes('😀', 3), '');
});

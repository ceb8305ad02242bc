import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@asterism/client';
import { EventCorrelator } from './event-correlator.ts';

const MINUTE = 60_000;

/** What is written of messages told at these minutes: each message, or undefined where it is dropped. */
function told(messages: readonly [minute: number, message: string][], reason = 'Normal/SuccessfulCreate') {
  const time = { now: 0 };
  const correlator = new EventCorrelator({ ...systemClock, monotonic: () => time.now });
  return messages.map(([minute, message]) => {
    time.now = minute * MINUTE;
    return correlator.correlate('set', reason, message);
  });
}

const pods = (count: number, minute = 0): [number, string][] =>
  Array.from({ length: count }, (_, index) => [minute, `Created pod: web-${minute}-${index}`]);

test('nine messages of a reason are told apart, the others are one event', () => {
  const events = told(pods(20));
  assert.deepEqual(
    events.slice(0, 9).map((event) => event?.message),
    pods(9).map(([, message]) => message),
  );
  assert.equal(events[9]?.message, '(combined from similar events): Created pod: web-0-9');
  assert.equal(new Set(events.slice(9).map((event) => event?.sign)).size, 1);
});

test('the same message is the same event, however often it comes', () => {
  const events = told(Array.from({ length: 12 }, () => [0, 'Back-off restarting failed container']));
  assert.deepEqual(new Set(events.map((event) => event?.message)), new Set(['Back-off restarting failed container']));
});

test('of one object come no more than 25 at once, and one more every five minutes', () => {
  const events = told([...pods(100), [5, 'a'], [5, 'b'], [10, 'c']]);
  assert.equal(events.slice(0, 100).filter((event) => event).length, 25);
  assert.deepEqual(
    events.slice(100).map((event) => event !== undefined),
    [true, false, true],
  );
});

test('after ten minutes they are told apart again', () => {
  const events = told([...pods(10), ...pods(2, 11)]);
  assert.match(events[9]?.message ?? '', /^\(combined/);
  assert.equal(events[10]?.message, 'Created pod: web-11-0');
});

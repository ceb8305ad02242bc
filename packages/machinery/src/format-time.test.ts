import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatMicroTime, formatTime } from './format-time.ts';

test('times are RFC 3339 in UTC, in seconds or microseconds', () => {
  assert.equal(formatTime(Date.UTC(2030, 0, 2, 3, 4, 5, 678)), '2030-01-02T03:04:05Z');
  assert.equal(formatMicroTime(Date.UTC(2030, 0, 2, 3, 4, 5, 678)), '2030-01-02T03:04:05.678000Z');
});

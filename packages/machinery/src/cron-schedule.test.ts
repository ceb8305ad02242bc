import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cronScheduleFault, parseCronSchedule } from './cron-schedule.ts';

const TIMES: [schedule: string, zone: string, after: string, next: string | undefined][] = [
  ['* * * * *', 'UTC', '2030-01-01T00:00:00Z', '2030-01-01T00:01:00Z'],
  ['*/15 * * * *', 'UTC', '2030-01-01T00:46:10Z', '2030-01-01T01:00:00Z'],
  ['5-7,40/10 3 * * *', 'UTC', '2030-01-01T03:07:00Z', '2030-01-01T03:40:00Z'],
  ['@hourly', 'UTC', '2030-01-01T00:00:00Z', '2030-01-01T01:00:00Z'],
  ['@daily', 'UTC', '2030-02-28T12:00:00Z', '2030-03-01T00:00:00Z'],
  ['@weekly', 'UTC', '2030-01-01T00:00:00Z', '2030-01-06T00:00:00Z'],
  ['@yearly', 'UTC', '2030-01-01T00:00:00Z', '2031-01-01T00:00:00Z'],
  ['@every 1h30m', 'UTC', '2030-01-01T00:00:10Z', '2030-01-01T01:30:10Z'],
  ['0 9 * * MON-FRI', 'UTC', '2030-01-04T09:00:00Z', '2030-01-07T09:00:00Z'],
  ['0 0 13 * FRI', 'UTC', '2030-01-05T00:00:00Z', '2030-01-11T00:00:00Z'],
  ['0 0 ? feb ?', 'UTC', '2030-01-05T00:00:00Z', '2030-02-01T00:00:00Z'],
  ['0 0 29 2 *', 'UTC', '2030-01-01T00:00:00Z', '2032-02-29T00:00:00Z'],
  ['0 0 30 2 *', 'UTC', '2030-01-01T00:00:00Z', undefined],
  ['30 9 * * *', 'Asia/Kolkata', '2030-01-01T00:00:00Z', '2030-01-01T04:00:00Z'],
  ['30 2 * * *', 'Europe/Berlin', '2030-03-30T12:00:00Z', '2030-04-01T00:30:00Z'],
  ['CRON_TZ=Asia/Kolkata 30 9 * * *', 'UTC', '2030-01-01T00:00:00Z', '2030-01-01T04:00:00Z'],
  ['30 2 * * *', 'Europe/Berlin', '2030-10-26T12:00:00Z', '2030-10-27T00:30:00Z'],
];

describe('the next time of a schedule', () => {
  for (const [schedule, zone, after, next] of TIMES) {
    test(`${schedule} (${zone}) after ${after}`, () => {
      const found = parseCronSchedule(schedule, zone).next(Date.parse(after));
      assert.equal(found, next === undefined ? undefined : Date.parse(next));
    });
  }
});

test('what cannot be read is refused', () => {
  for (const text of [
    '',
    '* * * *',
    '60 * * * *',
    '* * 0 * *',
    '*/0 * * * *',
    'x * * * *',
    '5-1 * * * *',
    '@every soon',
  ]) {
    assert.throws(() => parseCronSchedule(text), Error, text);
  }
  assert.throws(() => parseCronSchedule('* * * * *', 'Nowhere/Land'), RangeError);
});

describe('the fault of a schedule', () => {
  const rows = [
    ['*/5 * * * *', undefined],
    ['0 0 1 jan sun', undefined],
    ['@daily', undefined],
    ['@every 1h30m', undefined],
    ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
    ['61 * * * *', 'end of range (61) above maximum (59): 61'],
    ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
    ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
    ['*/0 * * * *', 'step of range should be a positive number: */0'],
    ['x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
    ['', 'empty spec string'],
    ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
    ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
    ['CRON_TZ=Europe/Berlin 0 9 * * *', undefined],
    ['TZ=Nowhere/Land 0 9 * * *', 'provided bad location Nowhere/Land: unknown time zone Nowhere/Land'],
    ['@every soon', 'failed to parse duration @every soon: time: invalid duration "soon"'],
    ['@never', 'unrecognized descriptor: @never'],
  ] as const;
  for (const [schedule, fault] of rows) test(schedule, () => assert.equal(cronScheduleFault(schedule), fault));
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isEnforcedFormat, matchesFormat } from './formats.ts';

describe('formats', () => {
  const rows: [format: string, good: string[], bad: string[]][] = [
    [
      'date-time',
      ['2026-01-02T03:04:05Z', '2026-01-02t03:04:05.123+02:00'],
      ['2026-01-02', '2026-02-30T00:00:00Z', '2026-01-02T24:00:00Z', ''],
    ],
    ['datetime', ['2026-01-02T03:04:05Z'], ['now']],
    ['date', ['2026-01-02'], ['2026-1-2', '2026-02-30', '']],
    ['duration', ['1h30m', '0', '-1.5s', '3 days'], ['', 'soon']],
    ['ipv4', ['10.0.0.1'], ['10.0.0', '::1', '010.0.0.1']],
    ['ipv6', ['::1', 'fe80::1'], ['10.0.0.1', 'g::']],
    ['cidr', ['10.0.0.0/8', 'fd00::/64'], ['10.0.0.0', '10.0.0.0/33', 'fd00::/129', '10.0.0.0/8/8', '/8']],
    ['mac', ['01:23:45:67:89:ab', '01-23-45-67-89-AB', '0123.4567.89ab'], ['01:23', '0g:23:45:67:89:ab']],
    ['uuid', ['123e4567-e89b-12d3-a456-426614174000'], ['123e4567']],
    ['uuid4', ['123e4567-e89b-42d3-a456-426614174000'], ['123e4567-e89b-12d3-a456-426614174000']],
    ['uri', ['https://a.example/b', '/a', 'mailto:a'], ['a', '', 'http://a b']],
    ['email', ['a@b.example', 'A B <a@b.example>'], ['a', '@b', 'a@b@c']],
    ['hostname', ['a.example.com', 'a'], ['', '-a', `${'a'.repeat(64)}.com`]],
    ['byte', ['aGk=', 'aGkh'], ['aGk', '***']],
    ['hexcolor', ['#fff', 'a0B1c2'], ['#ff', '#gggggg']],
    ['rgbcolor', ['rgb(1, 2, 255)'], ['rgb(1,2)', 'rgb(1,2,256)']],
    ['isbn10', ['0-306-40615-2'], ['0-306-40615-3']],
    ['isbn13', ['978-0-306-40615-7'], ['978-0-306-40615-8']],
    ['creditcard', ['4111111111111111'], ['4111111111111112', 'a']],
    ['ssn', ['123-45-6789'], ['123-45-678']],
    ['bsonobjectid', ['507f1f77bcf86cd799439011'], ['507f']],
    ['k8s-short-name', ['a-1'], ['A', 'a.b', '-a', 'a'.repeat(64)]],
    ['k8s-long-name', ['a.b-1'], ['A.b', 'a..b', 'a'.repeat(254)]],
    ['password', ['', 'anything'], []],
  ];
  for (const [format, good, bad] of rows) {
    test(format, () => {
      assert.ok(isEnforcedFormat(format));
      for (const text of good) assert.ok(matchesFormat(text, format), `"${text}" is one`);
      for (const text of bad) assert.ok(!matchesFormat(text, format), `"${text}" is none`);
    });
  }

  test('any other format is a remark', () => {
    for (const format of ['int32', 'quantity', 'hasOwnProperty', '']) {
      assert.equal(isEnforcedFormat(format), false);
      assert.equal(matchesFormat('x', format), true);
    }
  });

  test('a duration takes no longer than its text is long', { timeout: 10_000 }, () => {
    for (const text of ['1'.repeat(200_000), `1${' '.repeat(200_000)}`, '1.'.repeat(100_000)]) {
      assert.equal(matchesFormat(text, 'duration'), false);
    }
  });
});

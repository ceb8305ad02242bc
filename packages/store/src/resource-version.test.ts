import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOlder } from './resource-version.ts';

const table: [string, string, boolean][] = [
  ['9', '10', true],
  ['10', '9', false],
  ['10', '10', false],
  ['99999999999999999998', '99999999999999999999', true],
  ['0', '1', true],
  ['', '1', false],
  ['09', '10', false],
  ['9', 'x', false],
  ['a', 'b', false],
];

for (const [a, b, expected] of table) {
  test(`${JSON.stringify(a)} is ${expected ? '' : 'not '}older than ${JSON.stringify(b)}`, () =>
    assert.equal(isOlder(a, b), expected));
}

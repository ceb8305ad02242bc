import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareResourceVersions } from './resource-version.ts';

test('compareResourceVersions', () => {
  const cases: [a: string, b: string, sign: number | undefined][] = [
    ['9', '10', -1],
    ['10', '9', 1],
    ['41', '42', -1],
    ['0', '0', 0],
    ['90071992547409930', '90071992547409931', -1],
    ['01', '1', undefined],
    ['', '1', undefined],
    ['1', 'x', undefined],
    ['1', '1.0', undefined],
  ];
  for (const [a, b, sign] of cases) {
    const order = compareResourceVersions(a, b);
    assert.equal(order === undefined ? undefined : Math.sign(order), sign, `${a} to ${b}`);
  }
});

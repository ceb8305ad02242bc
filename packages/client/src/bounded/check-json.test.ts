import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkJson, measureJson } from './check-json.ts';
import { READ_LIMITS } from './read-limits.ts';

const NONE = { maxDepth: Number.POSITIVE_INFINITY, maxItems: Number.POSITIVE_INFINITY };

describe('measureJson', () => {
  const rows: [text: string, depth: number, items: number][] = [
    ['1', 0, 1],
    ['{}', 1, 2],
    ['[1,2,3]', 1, 4],
    ['{"a":[{"b":"[[[[,,,,"}]}', 3, 4],
    ['{"a":"\\"[[","b":"\\\\"}', 1, 3],
    ['[[],[[]]]', 3, 6],
    ['"not closed', 0, 1],
  ];
  for (const [text, depth, items] of rows) {
    test(text, () => assert.deepEqual(measureJson(Buffer.from(text), NONE), { depth, items }));
  }
});

describe('checkJson', () => {
  const limits = READ_LIMITS.object;

  test('refuses a million levels at once, and does not overflow the stack', () => {
    for (const open of ['[', '{"a":']) {
      const deep = Buffer.from(open.repeat(1_000_000));
      assert.throws(() => checkJson(deep, 'birch', limits), {
        code: 'ERR_READ_LIMIT',
        limit: 'depth',
        message: /^birch sent JSON of more than 1000 levels \(limit for object\): /,
      });
    }
  });

  test('refuses more values than are read', () => {
    const many = Buffer.from(`[${'[],'.repeat(1_000_000)}1]`);
    assert.throws(() => checkJson(many, 'birch', limits), { limit: 'items' });
  });

  test('allows what is at the limit', () => {
    checkJson(Buffer.from('['.repeat(1_000) + ']'.repeat(1_000)), 'birch', limits);
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { covers } from './covers.ts';

describe('covers', () => {
  const rows: { name: string; live: unknown; wanted: unknown; expected: boolean }[] = [
    { name: 'the same', live: { a: 1 }, wanted: { a: 1 }, expected: true },
    { name: 'more than wanted', live: { a: 1, b: { c: 2 } }, wanted: { a: 1 }, expected: true },
    { name: 'another value', live: { a: 1 }, wanted: { a: 2 }, expected: false },
    { name: 'a missing field', live: {}, wanted: { a: 1 }, expected: false },
    { name: 'another type', live: { a: '1' }, wanted: { a: 1 }, expected: false },
    {
      name: 'empty values need not be there',
      live: {},
      wanted: { a: {}, b: [], c: '', d: false, e: 0, f: null },
      expected: true,
    },
    { name: 'but must not be something else', live: { a: ['x'] }, wanted: { a: [] }, expected: false },
    { name: 'false is not true', live: { a: true }, wanted: { a: false }, expected: false },
    {
      name: 'named items in any order, with others between',
      live: [{ name: 'b', x: 1 }, { name: 'side' }, { name: 'a', y: 2 }],
      wanted: [{ name: 'a' }, { name: 'b', x: 1 }],
      expected: true,
    },
    { name: 'a named item is missing', live: [{ name: 'a' }], wanted: [{ name: 'b' }], expected: false },
    { name: 'a plain list is as it is', live: ['a', 'b'], wanted: ['a'], expected: false },
    { name: 'a plain list in another order', live: ['b', 'a'], wanted: ['a', 'b'], expected: false },
    {
      name: 'a quantity written otherwise',
      live: { requests: { cpu: '1' } },
      wanted: { requests: { cpu: '1000m' } },
      expected: true,
    },
    {
      name: 'a text that only looks like one',
      live: { data: { cpu: '1' } },
      wanted: { data: { cpu: '1000m' } },
      expected: false,
    },
    { name: 'an object where a text is wanted', live: { a: {} }, wanted: { a: 'x' }, expected: false },
  ];
  for (const { name, live, wanted, expected } of rows) test(name, () => assert.equal(covers(live, wanted), expected));
});

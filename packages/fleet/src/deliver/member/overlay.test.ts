import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { covers } from './covers.ts';
import { overlay } from './overlay.ts';

describe('overlay', () => {
  const rows: { name: string; live: unknown; wanted: unknown; expected: unknown }[] = [
    {
      name: 'what is said already stays as it is',
      live: { a: 1, b: [1] },
      wanted: { a: 1 },
      expected: { a: 1, b: [1] },
    },
    {
      name: 'what differs is replaced, beside what others say',
      live: { a: 1, b: 2 },
      wanted: { a: 3 },
      expected: { a: 3, b: 2 },
    },
    {
      name: 'quantities are the same however they are written',
      live: { limits: { cpu: '1', memory: '1Gi' } },
      wanted: { limits: { cpu: '1000m', memory: '2Gi' } },
      expected: { limits: { cpu: '1', memory: '2Gi' } },
    },
    {
      name: 'named things are merged by name, those of others stay',
      live: { containers: [{ name: 'sidecar' }, { name: 'web', image: 'a', port: 1 }] },
      wanted: { containers: [{ name: 'web', image: 'b' }, { name: 'db' }] },
      expected: { containers: [{ name: 'sidecar' }, { name: 'web', image: 'b', port: 1 }, { name: 'db' }] },
    },
    {
      name: 'any other list is as it is wanted',
      live: { args: ['a', 'b'] },
      wanted: { args: ['b'] },
      expected: { args: ['b'] },
    },
    { name: 'what is empty is no difference', live: { a: 1 }, wanted: { a: 1, labels: {} }, expected: { a: 1 } },
    {
      name: 'what is empty beside a difference neither',
      live: { a: 1 },
      wanted: { a: 2, labels: {} },
      expected: { a: 2 },
    },
  ];
  for (const { name, live, wanted, expected } of rows)
    test(name, () => assert.deepEqual(overlay(live, wanted), expected));

  test('says all that is wanted', () => {
    const leaf = fc.oneof(fc.integer(), fc.constantFrom('a', '', '1', '1000m'), fc.constant(null));
    const value = fc.letrec((tie) => ({
      any: fc.oneof({ maxDepth: 3 }, leaf, tie('map'), tie('list'), tie('named')),
      map: fc.dictionary(fc.constantFrom('a', 'b', 'limits', 'cpu'), tie('any')),
      list: fc.array(tie('any'), { maxLength: 3 }),
      named: fc.uniqueArray(fc.record({ name: fc.constantFrom('x', 'y', 'z'), a: leaf }), {
        maxLength: 3,
        selector: ({ name }) => name,
      }),
    })).map;
    fc.assert(fc.property(value, value, (live, wanted) => assert.ok(covers(overlay(live, wanted), wanted))));
  });
});

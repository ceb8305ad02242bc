import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { endOfManagedFields } from './end-of-managed-fields.ts';

describe('endOfManagedFields', () => {
  const cases: [name: string, text: string, array: string | undefined][] = [
    ['a member behind', '[{"a":{}}],"name":1}', '[{"a":{}}]'],
    ['the end behind', '[{"a":{}}]}}}', '[{"a":{}}]'],
    ['the next object behind', '[{}]}},{"metadata":1', '[{}]'],
    ['empty', '[]}}', '[]'],
    ['a bracket in a string', '[{"a]":1}],"name":1}', undefined],
    ['a bracket at the end of a string', '[{"a":"x]"}],"name":1}', undefined],
    ['what looks like a member in a string', '[{"a":"x]},","b":1}],"c":1}', undefined],
    ['an array within', '[{"a":[1],"b":2}],"name":1}', undefined],
    ['an array within at the end', '[{"a":[1]}]}}}', undefined],
    ['a blank behind', '[{}] ,"name":1}', undefined],
    ['no end', '[{"a":1}', undefined],
  ];
  for (const [name, text, array] of cases) {
    test(name, () => {
      assert.equal(
        endOfManagedFields(Buffer.from(`{"x":${text}`), 5),
        array === undefined ? undefined : 5 + array.length,
      );
    });
  }

  test('what it finds is the end, whatever stands within and behind', () => {
    const word = fc.oneof(fc.string(), fc.constantFrom(']', '],', ']},', '[', '"', '\\', 'x],"y', ']}}}', '],"a'));
    const value = fc.oneof(word, fc.dictionary(word, fc.oneof(word, fc.array(word), fc.dictionary(word, word))));
    fc.assert(
      fc.property(fc.array(value), fc.dictionary(fc.string(), value), (fields, rest) => {
        const array = JSON.stringify(fields);
        const object = JSON.stringify({ ...rest, zz: 1 }).slice(1);
        for (const text of [`${array},${object}`, `${array}}}}`]) {
          const end = endOfManagedFields(Buffer.from(text), 0);
          if (end !== undefined) assert.equal(end, Buffer.byteLength(array));
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readTolerations } from './read-tolerations.ts';

describe('tolerations of an annotation', () => {
  const rows: readonly (readonly [text: string, expected: object[] | string])[] = [
    ['null', []],
    ['[null]', [{}]],
    [
      '[{"Key":"a","operator":"Exists","tolerationSeconds":5,"x":1}]',
      [{ key: 'a', operator: 'Exists', tolerationSeconds: 5 }],
    ],
    ['[x', "invalid character 'x' looking for beginning of value"],
    ['{}', 'json: cannot unmarshal object into Go value of type []core.Toleration'],
    ['[1]', 'json: cannot unmarshal number into Go value of type core.Toleration'],
    ['[{"key":1}]', 'json: cannot unmarshal number into Go struct field Toleration.Key of type string'],
    ['[{"effect":[]}]', 'json: cannot unmarshal array into Go struct field Toleration.Effect of type core.TaintEffect'],
  ];
  for (const [text, expected] of rows) test(text, () => assert.deepEqual(readTolerations(text), expected));
});

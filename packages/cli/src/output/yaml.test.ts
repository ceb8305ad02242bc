import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { escapeControls, hasControls } from '@asterism/machinery';
import { parse } from 'yaml';
import { toYaml } from './yaml.ts';

const texts = [
  'plain',
  'two\nlines\n',
  'tab\there',
  '\u001b[31mred',
  'a\u009b31m',
  'a\u202eb',
  'a\u2028b\u0085c',
  'many words with \u202e in them and a\nline end',
  '\ufeffmark',
  'a\rb',
  'del\u007f',
  '\u{e0041}',
  "it's \u009b",
];

describe('YAML on a terminal', () => {
  for (const text of texts) {
    test(`says ${JSON.stringify(text)} still, as key and as value`, () => {
      const value = { value: text, list: [text], [text]: 'x' };
      const shown = escapeControls(toYaml(value));
      assert.ok(!hasControls(shown));
      assert.deepEqual(parse(shown), value);
    });
  }

  test('is as before where there is nothing to escape', () => {
    assert.equal(
      toYaml({ b: 'x', a: { c: [1, true, null, 'y'] } }),
      'b: x\na:\n  c:\n    - 1\n    - true\n    - null\n    - y\n',
    );
    assert.equal(toYaml({ b: 1, a: 2 }, { sortMapEntries: true }), 'a: 2\nb: 1\n');
  });
});

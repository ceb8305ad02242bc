import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import fc from 'fast-check';
import { applyMergePatch } from '@asterism/machinery';
import { parse, stringify } from 'yaml';
import { loadYamlEditor, type YamlEditor } from './edit-yaml-text.ts';

let yaml: YamlEditor;
before(async () => {
  yaml = await loadYamlEditor();
});

const edit = (text: string, change: (value: unknown) => unknown): string => {
  const edited = yaml.edit(text, (value) => ({ value: change(value) }));
  assert.ok('text' in edited, JSON.stringify(edited));
  return edited.text;
};

describe('an edit leaves as it is written what it does not change', () => {
  const rows: { name: string; text: string; patch: Record<string, unknown>; expected: string }[] = [
    {
      name: 'what 1.1 and 1.2 read differently, and numbers too long',
      text: 'mode: 0777\non: yes\nbig: 12345678901234567890\nver: 1.10\na: 1\n',
      patch: { a: 2 },
      expected: 'mode: 0777\non: yes\nbig: 12345678901234567890\nver: 1.10\na: 2\n',
    },
    {
      name: 'comments, empty lines, quotes, blocks, the order',
      text: '# head\nz: "q" # z\n\ny: \'w\'\nscript: |\n  a\n  b\nx: 1\n\n# tail\n',
      patch: { x: 2 },
      expected: '# head\nz: "q" # z\n\ny: \'w\'\nscript: |\n  a\n  b\nx: 2\n\n# tail\n',
    },
    {
      name: 'the comment and the quotes of what changes',
      text: 'a: "x" # why\n',
      patch: { a: 'y' },
      expected: 'a: "y" # why\n',
    },
    {
      name: 'indentation of four',
      text: 'a:\n    b:\n        d: 1\n    c: 3\n',
      patch: { a: { c: 4 } },
      expected: 'a:\n    b:\n        d: 1\n    c: 4\n',
    },
    {
      name: 'lists that are not indented',
      text: 'a:\n  b:\n  - 1\n  - 2\n  c: 3\n',
      patch: { a: { c: 4 } },
      expected: 'a:\n  b:\n  - 1\n  - 2\n  c: 4\n',
    },
    { name: 'an end without a newline', text: 'a: 1', patch: { a: 2 }, expected: 'a: 2' },
    { name: 'the start of a document', text: '---\na: 1\n', patch: { a: 2 }, expected: '---\na: 2\n' },
    {
      name: 'an anchor and who shares it',
      text: 'a: &a {x: 1}\nb: *a\nc: 1\n',
      patch: { c: 2 },
      expected: 'a: &a {x: 1}\nb: *a\nc: 2\n',
    },
    {
      name: 'a merge key',
      text: 'a: &a\n  x: 1\nb:\n  <<: *a\n  y: 1\n',
      patch: { b: { x: 5 } },
      expected: 'a: &a\n  x: 1\nb:\n  <<: *a\n  y: 1\n  x: 5\n',
    },
    {
      name: 'texts that mean something else',
      text: 'a: 1\n',
      patch: { a: 'yes', b: '1', c: 'null', d: '0777', e: 'x: y', f: '', g: 'n' },
      expected: 'a: "yes"\nb: "1"\nc: "null"\nd: "0777"\ne: "x: y"\nf: ""\ng: "n"\n',
    },
    {
      name: 'values of every kind',
      text: '',
      patch: { a: true, b: 1.5, c: [{ d: 'x' }, []], e: {} },
      expected: 'a: true\nb: 1.5\nc:\n  - d: x\n  - []\ne: {}\n',
    },
    {
      name: 'tags',
      text: 'a: !!int "3"\nc: !mine x\nb: 1\n',
      patch: { b: 2 },
      expected: 'a: !!int "3"\nc: !mine x\nb: 2\n',
    },
    { name: 'nothing', text: 'a:   1\n', patch: { a: 1 }, expected: 'a:   1\n' },
  ];
  for (const { name, text, patch, expected } of rows) {
    test(name, () =>
      assert.equal(
        edit(text, (value) => applyMergePatch(value, patch)),
        expected,
      ),
    );
  }

  test('the rest of a list, comments too', () => {
    const text = 'a:\n  - x # 1\n  - y # 2\n  - z # 3\n';
    assert.equal(
      edit(text, () => ({ a: ['x', 'new', 'y', 'z'] })),
      'a:\n  - x # 1\n  - new\n  - y # 2\n  - z # 3\n',
    );
    assert.equal(
      edit(text, () => ({ a: ['x', 'z'] })),
      'a:\n  - x # 1\n  - z # 3\n',
    );
  });
});

test('an edit of what an anchor shares reaches none that shares it', () => {
  const text = edit('a: &a {x: 1}\nb: *a\n', () => ({ a: { x: 2 }, b: { x: 1 } }));
  assert.deepEqual(parse(text), { a: { x: 2 }, b: { x: 1 } });
});

test('an anchor that goes leaves its value with who shares it', () => {
  assert.deepEqual(parse(edit('a: &a {x: 1}\nb: *a\n', () => ({ b: { x: 1 } }))), { b: { x: 1 } });
});

test('whatever is edited into whatever else, it says that afterwards', () => {
  const key = fc.oneof(fc.constantFrom('a', 'b', 'yes', '1', '__proto__', 'a b', ''), fc.string());
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.oneof(
        fc.string(),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.constantFrom('no', '0x1', '~', 'a\nb', '- x', '#'),
      ),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  }));
  fc.assert(
    fc.property(value, value, fc.boolean(), (from, to, flow) => {
      const text = stringify(from, flow ? { collectionStyle: 'flow' } : {});
      assert.deepEqual(parse(edit(text, () => to)), to);
    }),
    { numRuns: 300 },
  );
});

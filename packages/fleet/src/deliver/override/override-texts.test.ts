import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { finishSteps } from '@asterism/machinery';
import { OverrideTexts } from './override-texts.ts';

describe('a merge patch', () => {
  const texts = new OverrideTexts();
  const value = { a: { b: 1, c: 2 }, list: [1, 2], none: 'x' };
  const merged = { a: { b: 1, c: 3 }, list: [9] };

  const rows: [string, unknown][] = [
    ['an object', { a: { c: 3 }, list: [9], none: null }],
    ['a text of YAML', 'a: {c: 3}\nlist: [9]\nnone: null\n'],
    ['a text of JSON', '{"a":{"c":3},"list":[9],"none":null}'],
  ];
  for (const [name, patch] of rows) {
    test(`sets, merges, replaces lists and removes by null: ${name}`, async () => {
      assert.deepEqual(finishSteps(await texts.merge(value, patch)), { value: merged });
    });
  }

  const faults: [unknown, string][] = [
    ['a: b: hush', 'the patch is not one document of YAML: see its line 1'],
    ['hush', 'the patch is no object, nor the text of one'],
    [['hush'], 'the patch is no object, nor the text of one'],
    [null, 'the patch is no object, nor the text of one'],
  ];
  for (const [patch, fault] of faults) {
    test(`a fault: ${JSON.stringify(patch)}`, async () =>
      assert.deepEqual(finishSteps(await texts.merge(value, patch)), { fault }));
  }
});

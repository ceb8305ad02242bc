import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILTIN_RESOURCES } from '../generated/builtin-resources.ts';
import { shownCells } from './testing/test-cells.ts';

test('every built-in kind can be shown, however empty the object', () => {
  for (const { group, kind } of BUILTIN_RESOURCES) {
    for (const object of [{}, { metadata: {}, spec: {}, status: {} }]) {
      assert.doesNotThrow(() => shownCells(group, kind, object), `${group}/${kind}`);
    }
  }
});

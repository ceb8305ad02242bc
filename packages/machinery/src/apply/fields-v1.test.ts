import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FieldSet } from './field-set.ts';
import { writeFieldsV1 } from './fields-v1.ts';

/** `bottom` below so many fields of the same name. */
function nested(bottom: FieldSet, depth: number): FieldSet {
  let set = bottom;
  for (let level = 0; level < depth; level++) set = { 'f:a': set };
  return set;
}

test('what is sorted is written as it is, and what is not is sorted at every depth', () => {
  const sorted = nested({ '.': {}, 'f:a': {}, 'f:b': {} }, 3);
  assert.equal(writeFieldsV1(sorted), sorted);
  const written = writeFieldsV1({ 'f:b': {}, 'f:a': nested({ 'f:b': {}, 'f:a': {}, '.': {} }, 2) });
  assert.equal(JSON.stringify(written), '{"f:a":{"f:a":{"f:a":{".":{},"f:a":{},"f:b":{}}}},"f:b":{}}');
});

test('depth costs what it holds, not twice as much with each level', () => {
  const written = JSON.stringify(writeFieldsV1(nested({ 'f:b': {}, 'f:a': {} }, 500)));
  assert.match(written, /\{"f:a":\{\},"f:b":\{\}\}/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cloneJson, isJsonObject } from './json-object.ts';

/** Every object and array within a value. */
function parts(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(parts)];
}

test('cloneJson: the same value, and nothing of it shared', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const value: unknown = JSON.parse(text);
      const copy = cloneJson(value);
      assert.deepEqual(copy, value);
      const originals = new Set(parts(value));
      assert.ok(parts(copy).every((part) => !originals.has(part)));
    }),
  );
});

test('cloneJson: a key that is a trap is a key', () => {
  const copy = cloneJson(JSON.parse('{"__proto__":{"polluted":true}}') as Record<string, unknown>);
  assert.ok(isJsonObject(copy) && Object.hasOwn(copy, '__proto__'));
  assert.equal(copy['polluted'], undefined);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replaceBetweenMarkers } from './render-document.ts';

const document =
  'before\n<!-- bench:a -->\nold\n<!-- /bench:a -->\nbetween\n<!-- bench:b -->\n<!-- /bench:b -->\nafter\n';

test('replaceBetweenMarkers: replaces what stands there, and nothing else', () => {
  const once = replaceBetweenMarkers(document, 'a', 'new $& $1\n');
  assert.equal(once, document.replace('old', 'new $$& $$1'));
  assert.equal(replaceBetweenMarkers(once, 'a', 'new $& $1\n'), once);
  assert.equal(
    replaceBetweenMarkers(document, 'b', 'x'),
    document.replace('<!-- bench:b -->\n', '<!-- bench:b -->\nx\n'),
  );
});

test('replaceBetweenMarkers: a document without the markers is refused, with what to write', () => {
  assert.throws(() => replaceBetweenMarkers(document, 'c', 'x'), /no place for c: write <!-- bench:c -->/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type FieldPath, parseFieldPath } from './field-path.ts';

const each = { each: true } as const;
const key = (name: string): { key: string } => ({ key: name });

const good: [string, FieldPath][] = [
  ['.a', [key('a')]],
  ['a.b', [key('a'), key('b')]],
  ['.spec.containers[].image', [key('spec'), key('containers'), each, key('image')]],
  ['.a[0].b', [key('a'), { index: 0 }, key('b')]],
  ['.a[][12]', [key('a'), each, { index: 12 }]],
  ["['x.y'].z", [key('x.y'), key('z')]],
  ['.a["x]y"]', [key('a'), key('x]y')]],
  [".a.'x.y'.b", [key('a'), key('x.y'), key('b')]],
  ["'x.y'", [key('x.y')]],
  [".a['it\\'s']", [key('a'), key("it's")]],
  [".a['b\\\\']", [key('a'), key('b\\')]],
  [".a['']", [key('a'), key('')]],
  ['.a-b.c/d:e.$f', [key('a-b'), key('c/d:e'), key('$f')]],
  ['[0]', [{ index: 0 }]],
];

for (const [text, path] of good) {
  test(`${text} is read`, () => assert.deepEqual(parseFieldPath(text), path));
}

const bad: [string, RegExp][] = [
  ['', /expected a name.* at its end/],
  ['.', /expected a name.* at its end/],
  ['.a..b', /expected a name.* before "\.b"/],
  ['.a.', /expected a name.* at its end/],
  ['.a[', /expected '\]', the index of an element, or a name in quotes at its end/],
  ['.a[b]', /or a name in quotes before "b\]"/],
  ['.a[-1]', /before "-1\]"/],
  ['.a[*]', /before "\*\]"/],
  ['.a[0', /expected '\]' at its end/],
  ["['a'", /expected '\]' at its end/],
  ["['a]", /missing the ' that closes the quote before "'a\]"/],
  ['.a b', /expected '\.' or '\[' before " b"/],
  ["a'b'", /expected '\.' or '\[' before "'b'"/],
  ['.a]', /expected '\.' or '\[' before "\]"/],
  ['.a[1234567890]', /the index 1234567890 has over 9 digits/],
];

for (const [text, message] of bad) {
  test(`${JSON.stringify(text)} is refused`, () =>
    assert.throws(() => parseFieldPath(text), { name: 'StoreError', code: 'INVALID_QUERY', message }));
}

test('any names can be written in quotes', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }),
      fc.constantFrom("'", '"'),
      (names, quote) => {
        const quoted = names.map((name) => quote + name.replaceAll(/[\\'"]/g, '\\$&') + quote);
        assert.deepEqual(parseFieldPath(quoted.map((name) => `[${name}]`).join('')), names.map(key));
        assert.deepEqual(parseFieldPath(quoted.map((name) => `.${name}`).join('')), names.map(key));
      },
    ),
  );
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseJson } from './parse-json.ts';

const KEYS = ['"', '\\', '\n', 'a"', 'a\\', '\\"', 'k:{"a":1}', 'k:{\\"a\\"', 'é\u2028"', '__proto__', 'a', ''];

/** A JSON value whose objects are entries, so that keys may stand twice. */
type Tree = Tree[] | { entries: [string, Tree][] } | string | number | null;

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom<Tree>('', '\\', '{"a\\":1}', 0, -1.5e300, null),
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.record({ entries: fc.array(fc.tuple(fc.constantFrom(...KEYS), tie('tree')), { maxLength: 4 }) }),
  ),
}));

/** The tree in JSON, with the keys that stand twice or, as it is to be read, without. */
function textOf(value: Tree, once: boolean): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => textOf(item, once)).join()}]`;
  const entries = once ? [...new Map(value.entries)] : value.entries;
  return `{${entries.map(([key, member]) => `${JSON.stringify(key)}:${textOf(member, once)}`).join()}}`;
}

describe('parseJson', () => {
  for (const [index, key] of ['"', '\n', 'a"', 'k:{"name":"x"}', 'é\u0001'].entries()) {
    test(`reads the key ${JSON.stringify(key)} after an object with what V8 takes it for`, () => {
      const written = JSON.stringify(key);
      const mistaken = written.slice(1, 1 + key.length);
      const before = `before${index}`;
      const earlier = parseJson(`{"${before}":[],${JSON.stringify(mistaken)}:0}`);
      assert.deepEqual(Object.keys(parseJson(`{"${before}":1,${written}:2}`) as object), [before, key]);
      assert.deepEqual(Object.keys(earlier as object), [before, mistaken]);
    });
  }

  test('any keys: as they were written, each once, the last value in the first place', () => {
    fc.assert(
      fc.property(tree, (value) => {
        assert.equal(JSON.stringify(parseJson(textOf(value, false))), textOf(value, true));
      }),
      { numRuns: 3000 },
    );
  });

  test('a key that is a trap is a key', () => {
    const value = parseJson('{"__proto__":{"polluted\\\\":true}}') as object;
    assert.deepEqual(Object.keys(value), ['__proto__']);
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
  });

  for (const [name, opening, closing] of [
    ['objects', '{"\\\\":', '}'],
    ['lists', '[', ']'],
  ] as const) {
    test(`${name} as deep as JSON.parse reads them`, () => {
      const depth = 200_000;
      let value = parseJson(`${opening.repeat(depth)}{"\\\\":1}${closing.repeat(depth)}`);
      for (let level = 0; level < depth; level++) [value] = Object.values(value as object) as unknown[];
      assert.deepEqual(value, { '\\': 1 });
    });
  }

  test('what is no JSON is refused as JSON.parse does', () => {
    for (const text of ['', '{', '{"\\\\":1}}', '{"a" 1}', '"\\x"', 'undefined']) {
      assert.throws(() => parseJson(text), SyntaxError, text);
    }
  });
});

test('a text of 3 MB alone takes no time for each of its characters', () => {
  const text = JSON.stringify(`\n${'a'.repeat(3_000_000)}`);
  const start = process.threadCpuUsage();
  for (let count = 0; count < 3; count += 1) parseJson(text);
  const { user, system } = process.threadCpuUsage(start);
  assert.ok(user + system < 500_000, `${user + system} microseconds`);
});

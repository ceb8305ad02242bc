import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseYaml } from './parse-yaml.ts';

const BOMB = ['a: &a [x,x,x,x,x,x,x,x,x,x]'];
const MERGE_BOMB = ['a: &a {k: v}'];
for (let level = 1; level < 12; level++) {
  const [before, name] = ['abcdefghijkl'[level - 1], 'abcdefghijkl'[level]];
  const ten = Array(10).fill(`*${before}`).join(', ');
  BOMB.push(`${name}: &${name} [${ten}]`);
  MERGE_BOMB.push(`${name}: &${name} {<<: [${ten}]}`);
}

describe('YAML that would take long, or make much of little, is refused at once', () => {
  const rows: [name: string, text: string, why: RegExp][] = [
    ['lists in lists', `a: ${'['.repeat(500_000)}`, /exceeded max depth/],
    ['maps in maps', `a: ${'{a: '.repeat(100_000)}`, /exceeded max depth/],
    ['dashes in a row', `${'- '.repeat(100_000)}a`, /exceeded max depth/],
    ['keys that are maps', `${'? '.repeat(400)}a`, /invalid map key/],
    ['an alias of a map as a key', 'a: &a {x: 1}\nb: {*a : 2}', /line 2: invalid map key/],
    ['aliases of aliases', BOMB.join('\n'), /excessive aliasing/],
    ['merges of merges', MERGE_BOMB.join('\n'), /excessive aliasing/],
    ['an anchor within itself', 'a: &a [*a]', /anchor 'a' value contains itself/],
    ['an alias of nothing', 'a: *b', /unknown anchor 'b' referenced/],
    ['a fault at each token', `{"a":"b"${'['.repeat(140_000)}`, /Unexpected flow-seq-start/],
    ['aliases that are each looked for in all others', `a: &a x\nl:\n${'- *a\n'.repeat(20_000)}`, /excessive aliasing/],
    ['more values than a body may have', `a: [${'1,'.repeat(60_000)}]`, /limit of an object is 50000 values/],
    ['more tokens than any object has', 'a: b\n'.repeat(200_000), /more than 500000 tokens/],
  ];
  for (const [name, text, why] of rows) {
    test(name, async () => {
      const before = performance.now();
      await assert.rejects(parseYaml(text), why);
      assert.ok(performance.now() - before < 5_000);
    });
  }
});

test('aliases, merges and keys that stand twice are read as Go reads them', async () => {
  const text = 'a: &a {x: 1}\nb: {<<: *a, z: 2}\nc: &c s\n*c : 3\nq: 1\nq: 2\n';
  assert.deepEqual(await parseYaml(text), {
    value: { a: { x: 1 }, b: { x: 1, z: 2 }, c: 's', s: 3, q: 2 },
    duplicates: ['yaml: unmarshal errors:\n  line 6: key "q" already set in map'],
  });
});

test('many keys take no longer than their number', async () => {
  const text = Array.from({ length: 49_000 }, (_, index) => `k${index}: v`).join('\n');
  const { value } = await parseYaml(text);
  assert.equal(Object.keys(value as object).length, 49_000);
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { SubtreePool } from './subtree-pool.ts';

const IDENTITY = { apiVersion: 'v1', kind: 'Pod' };
const bytes = (value: unknown): Buffer => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const pod = (name: string, more: object = {}) => ({
  ...IDENTITY,
  metadata: { name, labels: { app: 'web' } },
  spec: { containers: [{ name: 'web', env: [{ name: 'A', value: 'b' }] }], nodeName: name },
  ...more,
});
type Pod = ReturnType<typeof pod>;

function isFrozenToTheLeaves(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isFrozenToTheLeaves);
}

describe('SubtreePool', () => {
  test('equal parts are one from the second time on, in whatever object', () => {
    const pool = new SubtreePool();
    const [, second, third] = ['a', 'b', 'c'].map((name) => pool.read(bytes(pod(name))).value as Pod);
    assert.deepEqual(third, pod('c'));
    assert.equal(third?.metadata.labels, second?.metadata.labels);
    assert.equal(third?.spec.containers, second?.spec.containers);
    assert.equal(third?.spec.nodeName, 'c');
  });

  test('what changed in an object does not keep the rest from being shared', () => {
    const pool = new SubtreePool();
    const read = (status: object) => pool.read(bytes(pod('a', { status }))).value as Pod & { status: object };
    const states = [{ phase: 'Pending' }, { phase: 'Running' }, { phase: 'Succeeded' }].map(read);
    assert.deepEqual(
      states.map(({ status }) => status),
      [{ phase: 'Pending' }, { phase: 'Running' }, { phase: 'Succeeded' }],
    );
    assert.equal(states[2]?.spec.containers, states[1]?.spec.containers);
  });

  const texts: [string, string][] = [
    ['blanks anywhere', ' { "a" : [ 1 , { "b" : { } } ] ,\n "c" : [ ] } '],
    ['scalars between nodes', '{"a":[1,{"b":[2]},null,{"b":[2]},"x"],"d":[{"b":[2]},{"b":[2]}]}'],
    ['brackets and quotes in strings', '{"a":{"b":"}]\\"{[","c":{"d":"\\\\"}},"e\\"}":{"f":["]"]}}'],
    ['keys with escapes and other letters', '{"\\u0061b":{"ä":{"x":["ö€😀"]}},"ä":[{"k":"é"}]}'],
    ['keys that objects have', '{"__proto__":{"a":[1]},"constructor":{"b":{"c":1}},"toString":[[]]}'],
    ['keys that are numbers', '{"2":{"a":[2]},"1":{"a":[1]},"b":{"10":[{}],"9":[[1]]}}'],
    ['deep', `{"a":${'['.repeat(500)}${']'.repeat(500)}}`],
    ['empty', '{}'],
  ];
  for (const [name, text] of texts) {
    test(`as JSON.parse: ${name}`, () => {
      const pool = new SubtreePool();
      const start = text.indexOf('{');
      for (let time = 0; time < 4; time++) {
        const { value, end } = pool.read(bytes(text), Buffer.from(text.slice(0, start)).length);
        assert.deepEqual(value, JSON.parse(text));
        assert.equal(JSON.stringify(value), JSON.stringify(JSON.parse(text)), 'in the same order');
        assert.equal(text.slice(end).trim(), '');
        assert.ok(isFrozenToTheLeaves(value));
      }
    });
  }

  test('as JSON.parse: any object, in any company', () => {
    const pool = new SubtreePool();
    const json = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 }));
    fc.assert(
      fc.property(json, fc.boolean(), (object, pretty) => {
        const text = JSON.stringify(object, null, pretty ? 1 : 0);
        for (let time = 0; time < 3; time++) {
          const { value } = pool.read(Buffer.from(text));
          assert.equal(JSON.stringify(value), JSON.stringify(JSON.parse(text)));
          assert.ok(isFrozenToTheLeaves(value));
        }
      }),
      { numRuns: 300 },
    );
  });

  const managed = [{ manager: 'm', fieldsV1: { 'k:{"a":"]}"}': { '.': {} } } }];
  const cuts: [string, object, object][] = [
    ['last', { a: 1, managedFields: managed }, { a: 1 }],
    ['first', { managedFields: managed, labels: { a: 'b' } }, { labels: { a: 'b' } }],
    ['between', { labels: { a: 'b' }, managedFields: managed, b: {} }, { labels: { a: 'b' }, b: {} }],
    ['alone', { managedFields: managed }, {}],
  ];
  for (const [name, metadata, expected] of cuts) {
    test(`managedFields go: ${name}`, () => {
      const pool = new SubtreePool();
      const spec = { metadata: { managedFields: [1] }, managedFields: [{ a: 1 }] };
      for (const indent of [0, 2]) {
        for (let time = 0; time < 3; time++) {
          const { value } = pool.read(bytes(JSON.stringify({ metadata, spec }, null, indent)));
          assert.deepEqual(value, { metadata: expected, spec });
        }
      }
    });
  }

  test('an item of a list says what it is; metadata alone too', () => {
    const pool = new SubtreePool();
    const { apiVersion: _, kind: __, ...item } = pod('a');
    assert.deepEqual(pool.read(bytes(item), 0, { identity: IDENTITY }).value, pod('a'));
    assert.deepEqual(pool.read(bytes({}), 0, { identity: IDENTITY }).value, IDENTITY);
    assert.deepEqual(pool.read(bytes(pod('a')), 0, { identity: { apiVersion: 'x', kind: 'Y' } }).value, pod('a'));
    const partial = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: { name: 'ä' } };
    for (const object of [partial, { ...pod(''), metadata: { name: 'ä' } }]) {
      const { value, end } = pool.read(bytes(object), 0, { identity: IDENTITY, metadataOnly: true });
      assert.deepEqual(value, { ...IDENTITY, metadata: { name: 'ä' } });
      assert.equal(end, bytes(object).length);
    }
  });

  test('texts of one hash are told apart', () => {
    const pool = new SubtreePool();
    // Whatever the hash: so many texts share one place of what is remembered.
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 20_000; i++) {
        const { value } = pool.read(bytes(`{"a":{"n":${i}}}`)) as { value: { a: { n: number } } };
        if (value.a.n !== i) assert.fail(`${value.a.n} for ${i}`);
      }
    }
  });

  test('more than it can remember: what comes again and again stays one', () => {
    const pool = new SubtreePool();
    const labels = { app: 'x'.repeat(100) };
    const read = () => (pool.read(bytes({ metadata: { labels } })).value as Pod).metadata.labels;
    read();
    const first = read();
    for (let i = 0; i < 1_500; i++) {
      const other = bytes({ a: { text: `${i} ${'y'.repeat(8_000)}` } });
      for (let time = 0; time < 2; time++) pool.read(other);
      assert.equal(read(), first);
    }
  });

  for (const text of [
    '',
    'null',
    '[]',
    '{',
    '{"a":{}',
    '{"a":{]}',
    '{"a":[}}',
    '{"a":{"b"}}',
    '{"a":-{}}',
    '{"a":"x{}}',
  ]) {
    test(`not JSON: ${text}`, () => {
      const pool = new SubtreePool();
      for (let time = 0; time < 3; time++) assert.throws(() => pool.read(bytes(text)), SyntaxError);
      assert.deepEqual(pool.read(bytes(pod('a'))).value, pod('a'));
    });
  }
});

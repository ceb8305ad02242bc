import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseJson } from '@asterism/machinery';
import fc from 'fast-check';
import { SubtreePool } from './subtree-pool.ts';

const IDENTITY = { apiVersion: 'v1', kind: 'Pod' };
const partial = (metadata: object, space?: number): Buffer =>
  Buffer.from(JSON.stringify({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata }, null, space));
const managedFields = [{ manager: 'm', fieldsV1: { 'f:a': { '.': {} } } }];

function read(pool: SubtreePool, bytes: Buffer) {
  const { value, end } = pool.read(bytes, 0, { identity: IDENTITY, metadataOnly: true });
  assert.equal(end, bytes.length);
  return value as typeof IDENTITY & { metadata: Record<string, unknown> };
}

describe('metadata alone', () => {
  const cases: [string, Record<string, unknown>][] = [
    ['as it mostly is', { name: 'a', labels: { a: 'b' }, ownerReferences: [{ uid: 'u' }], managedFields }],
    ['without managedFields', { name: 'a', labels: { a: 'b' }, generation: 3 }],
    ['managedFields first', { managedFields, name: 'a', labels: { a: 'b' } }],
    ['managedFields alone', { managedFields }],
    ['nothing', {}],
    ['brackets in parts', { annotations: { a: '{"b":"}"}', c: ']' }, finalizers: ['a]', '}'], name: 'x' }],
    ['other letters', { name: 'ä', labels: { ö: '€' }, annotations: { a: '😀' } }],
    ['escapes', { name: 'a"b\\', 'k"': 'v', labels: { '"': '\\' } }],
    ['scalars', { a: -1.5e3, b: true, c: null, d: false, e: '', labels: { a: 'b' } }],
    ['keys that objects have', { __proto__: null, constructor: { a: 'b' }, toString: ['a'] }],
    ['a long one', { name: 'a', labels: { a: 'b' }, annotations: { a: 'x'.repeat(10_000) }, managedFields }],
    ['a part in a part', { a: { b: { c: 'd' } }, f: [[1], [2]] }],
  ];
  for (const [name, metadata] of cases) {
    test(`as JSON.parse: ${name}`, () => {
      const pool = new SubtreePool();
      const { managedFields: _, ...expected } = metadata;
      for (const space of [undefined, 1]) {
        for (let time = 0; time < 4; time++) {
          const found = read(pool, partial(metadata, space));
          assert.equal(JSON.stringify(found), JSON.stringify({ ...IDENTITY, metadata: expected }));
          assert.ok(Object.isFrozen(found) && Object.isFrozen(found.metadata));
        }
      }
    });
  }

  test('parts that are known are one, of objects that came in between too', () => {
    const pool = new SubtreePool();
    const labels = (set: number) =>
      read(pool, partial({ name: 'a', labels: { app: `web-${set}` }, managedFields })).metadata['labels'];
    for (let time = 0; time < 3; time++) for (let set = 0; set < 10; set++) labels(set);
    const sets = [0, 1, 2, 1, 0].map(labels);
    assert.equal(sets[4], sets[0]);
    assert.equal(sets[3], sets[1]);
    assert.deepEqual(sets[2], { app: 'web-2' });
  });

  test('as parsed: any metadata, in any company', () => {
    const pool = new SubtreePool();
    const word = fc.oneof(
      fc.string({ maxLength: 3 }),
      fc.constantFrom('}', ']', '"', '\\', ',"', '":{', 'managedFields'),
    );
    const part = fc.oneof(fc.dictionary(word, word, { maxKeys: 2 }), fc.array(word, { maxLength: 2 }));
    const metadata = fc.dictionary(word, fc.oneof(word, part, fc.jsonValue({ maxDepth: 2 })), { maxKeys: 4 });
    fc.assert(
      fc.property(metadata, fc.boolean(), fc.boolean(), (generated, managed, pretty) => {
        const { managedFields: _, ...expected } = generated;
        const object = managed ? { ...expected, managedFields } : expected;
        for (let time = 0; time < 3; time++) {
          const found = read(pool, partial(object, pretty ? 1 : 0));
          assert.equal(JSON.stringify(found.metadata), JSON.stringify(parseJson(JSON.stringify(expected))));
        }
      }),
      { numRuns: 500 },
    );
  });
});

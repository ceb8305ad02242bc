import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { parseJson, PODS } from '@asterism/machinery';
import fc from 'fast-check';
import { SEARCH_CLUSTER_ANNOTATION } from '../cluster-annotation.ts';
import { rowOf } from './indexed-object.ts';
import { elementsOf, memberOf } from './json-slices.ts';

const text = (bytes: Uint8Array | string): string => Buffer.from(bytes as Uint8Array).toString();

/** JSON of the same value with white space wherever it may stand. */
function spaced(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', ' \n\t');
}

describe('slices of JSON', () => {
  test('are what a parser finds, whatever stands in strings and between them', () => {
    const member = fc.record({ items: fc.array(fc.jsonValue()), other: fc.jsonValue(), '"items"': fc.jsonValue() });
    fc.assert(
      fc.property(member, fc.boolean(), (value, withSpace) => {
        const source = Buffer.from(withSpace ? spaced(value) : JSON.stringify(value));
        const { start, end } = memberOf(source, 0, 'items') ?? assert.fail('items not found');
        const json = parseJson(JSON.stringify(value)) as typeof value;
        assert.deepEqual(parseJson(text(source.subarray(start, end))), json.items);
        const elements = elementsOf(source, start).map((slice) =>
          parseJson(text(source.subarray(slice.start, slice.end))),
        );
        assert.deepEqual(elements, json.items);
        assert.equal(memberOf(source, 0, 'item'), undefined);
      }),
    );
  });
});

describe('what is stored of an object', () => {
  const row = (json: string) => {
    const object = JSON.parse(json) as KubeObject & { metadata: object };
    return rowOf({ ...object, bytes: Buffer.from(json) }, PODS, 'alpha');
  };
  const stamp = `"${SEARCH_CLUSTER_ANNOTATION}":"alpha"`;
  const table: [name: string, from: string, to: string][] = [
    [
      'an item of a list: its kind and its cluster are spliced in, the rest stays byte for byte',
      '{"metadata":{"name":"a"}, "spec":{"big":12345678901234567890,"x": "\\u00e9"}}',
      `{"apiVersion":"v1","kind":"Pod","metadata":{"annotations":{${stamp}},"name":"a"}, "spec":{"big":12345678901234567890,"x": "\\u00e9"}}`,
    ],
    [
      'an object of a watch has its kind',
      '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}',
      `{"kind":"Pod","apiVersion":"v1","metadata":{"annotations":{${stamp}},"name":"a"}}`,
    ],
    [
      'annotations are joined',
      '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","annotations":{"b":"c"}}}',
      `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","annotations":{${stamp},"b":"c"}}}`,
    ],
    [
      'empty annotations get no comma',
      '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","annotations":{ }}}',
      `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","annotations":{${stamp} }}}`,
    ],
    [
      'annotations of something else are not those of the object',
      '{"kind":"Pod","apiVersion":"v1","spec":{"metadata":{"annotations":{}}},"metadata":{"name":"a","labels":{"annotations":"x"}}}',
      `{"kind":"Pod","apiVersion":"v1","spec":{"metadata":{"annotations":{}}},"metadata":{"annotations":{${stamp}},"name":"a","labels":{"annotations":"x"}}}`,
    ],
    [
      'an object that says the truth already stays as it is',
      `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","annotations":{${stamp}}}}`,
      `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","annotations":{${stamp}}}}`,
    ],
    [
      'one that names another cluster is put right',
      `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","annotations":{"${SEARCH_CLUSTER_ANNOTATION}":"beta"}}}`,
      `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","annotations":{${stamp}}}}`,
    ],
    [
      'annotations that are null are none',
      '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","annotations":null}}',
      `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","annotations":{${stamp}}}}`,
    ],
  ];
  for (const [name, from, to] of table) test(name, () => assert.equal(text(row(from).object), to));

  test('is the object and its annotation, for any object', () => {
    const metadata = fc.record(
      {
        name: fc.constant('a'),
        annotations: fc.dictionary(fc.string(), fc.string()),
        labels: fc.dictionary(fc.string(), fc.string()),
      },
      { requiredKeys: ['name'] },
    );
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), metadata, fc.boolean(), (more, meta, withSpace) => {
        const object = parseJson(
          JSON.stringify({ ...more, metadata: meta, kind: 'Pod', apiVersion: 'v1' }),
        ) as KubeObject;
        const stored = parseJson(text(row(withSpace ? spaced(object) : JSON.stringify(object)).object)) as KubeObject;
        const annotations = { ...object.metadata?.annotations, [SEARCH_CLUSTER_ANNOTATION]: 'alpha' };
        assert.deepEqual(stored, { ...object, metadata: { ...object.metadata, annotations } });
      }),
    );
  });

  test('has the columns that queries need', () => {
    const { object: _, ...columns } = row(
      JSON.stringify({
        metadata: {
          name: 'a',
          namespace: 'n',
          uid: 'u',
          resourceVersion: '7',
          creationTimestamp: '2026-01-02T03:04:05Z',
          labels: { app: 'web' },
          ownerReferences: [
            { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'not-controller' },
            { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'y', uid: 'controller', controller: true },
          ],
        },
      }),
    );
    assert.deepEqual(columns, {
      namespace: 'n',
      name: 'a',
      kind: 'Pod',
      uid: 'u',
      resourceVersion: '7',
      ownerUid: 'controller',
      createdAt: Date.UTC(2026, 0, 2, 3, 4, 5),
      labels: { app: 'web' },
    });
  });
});

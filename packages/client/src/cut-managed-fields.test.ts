import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseJson } from '@asterism/machinery';
import fc from 'fast-check';
import { cutManagedFields, type JsonShape } from './cut-managed-fields.ts';

const cut = (text: string, shape?: JsonShape): string =>
  Buffer.from(cutManagedFields(Buffer.from(text), shape)).toString();

describe('cutManagedFields', () => {
  const cases: [name: string, shape: JsonShape, before: string, after: string][] = [
    ['first member', 'object', '{"metadata":{"managedFields":[{}],"name":"a"}}', '{"metadata":{"name":"a"}}'],
    ['last member', 'object', '{"metadata":{"name":"a","managedFields":[{}]}}', '{"metadata":{"name":"a"}}'],
    [
      'middle',
      'object',
      '{"metadata":{"name":"a","managedFields":[],"uid":"u"}}',
      '{"metadata":{"name":"a","uid":"u"}}',
    ],
    ['only member', 'object', '{"metadata":{"managedFields":[{"a":["]","\\"}"]}]}}', '{"metadata":{}}'],
    [
      'spaces',
      'object',
      '{ "metadata" : { "name" : "a" , "managedFields" : [ ] } }',
      '{ "metadata" : { "name" : "a"  } }',
    ],
    [
      'an event',
      'event',
      '{"type":"ADDED","object":{"metadata":{"managedFields":[]}}}',
      '{"type":"ADDED","object":{"metadata":{}}}',
    ],
    [
      'a list',
      'list',
      '{"items":[{"metadata":{"managedFields":[],"name":"a"},"x":[1]},{"metadata":{"name":"b","managedFields":[]}}]}',
      '{"items":[{"metadata":{"name":"a"},"x":[1]},{"metadata":{"name":"b"}}]}',
    ],
    ['empty list', 'list', '{"items":[]}', '{"items":[]}'],
    [
      'not metadata',
      'object',
      '{"spec":{"managedFields":[1]},"managedFields":2}',
      '{"spec":{"managedFields":[1]},"managedFields":2}',
    ],
    ['deeper', 'object', '{"spec":{"metadata":{"managedFields":[1]}}}', '{"spec":{"metadata":{"managedFields":[1]}}}'],
    [
      'a string',
      'object',
      '{"metadata":{"name":"\\"managedFields\\":[]"}}',
      '{"metadata":{"name":"\\"managedFields\\":[]"}}',
    ],
    ['cut off', 'object', '{"metadata":{"managedFields":[{"a":"', '{"metadata":{"managedFields":[{"a":"'],
    ['no JSON', 'list', 'no JSON', 'no JSON'],
    ['nothing', 'object', '', ''],
  ];
  for (const [name, shape, before, after] of cases) test(name, () => assert.equal(cut(before, shape), after));

  const word = fc.constantFrom('managedFields', 'metadata', 'items', 'object', '"managedFields":[', '\\', 'é', 'name');
  const key = fc.oneof(word, fc.string());
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.oneof(word, fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(key, tie('value'), { maxKeys: 5 }),
    ),
  }));
  /** Often of the right form, often not. */
  const object = fc.oneof(value, fc.record({ a: value, metadata: fc.dictionary(key, value), managedFields: value }));
  const document = {
    object,
    event: fc.record({ type: word, object, managedFields: value }),
    list: fc.record({ metadata: value, items: fc.oneof(fc.array(object), value), z: value }),
  };
  const indent = fc.constantFrom(undefined, 1, '\t');

  for (const shape of ['object', 'event', 'list'] as const) {
    test(`any ${shape}: what parsing and deleting gives, and nothing else`, () => {
      fc.assert(
        fc.property(document[shape], indent, (generated, space) => {
          const text = JSON.stringify(generated, undefined, space);
          assert.deepEqual(parseJson(cut(text, shape)), withoutManagedFields(parseJson(text), shape));
        }),
        { numRuns: 400 },
      );
    });
  }

  test('any bytes: never throws, never changes what it was given', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '"',
      '\\',
      ' ',
      '"metadata"',
      '"managedFields"',
      '"items"',
      '1',
    );
    fc.assert(
      fc.property(fc.array(piece), fc.constantFrom('object', 'event', 'list'), (pieces, shape) => {
        const bytes = Buffer.from(pieces.join(''));
        const copy = Buffer.from(bytes);
        const result = cutManagedFields(bytes, shape);
        assert.deepEqual(bytes, copy);
        assert.ok(result.length <= bytes.length);
      }),
      { numRuns: 1000 },
    );
  });
});

function withoutManagedFields(document: unknown, shape: JsonShape): unknown {
  const isObject = (candidate: unknown): candidate is Record<string, unknown> =>
    typeof candidate === 'object' && candidate !== null && !Array.isArray(candidate);
  const strip = (candidate: unknown): void => {
    if (isObject(candidate) && isObject(candidate['metadata'])) delete candidate['metadata']['managedFields'];
  };
  if (shape === 'object') strip(document);
  else if (isObject(document)) {
    if (shape === 'event') strip(document['object']);
    else if (Array.isArray(document['items'])) document['items'].forEach(strip);
  }
  return document;
}

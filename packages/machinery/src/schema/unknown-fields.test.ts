import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { schemaOfKind } from './builtin-schemas.ts';
import { customResourceSchema } from './custom-resource-schema.ts';
import type { StructuralSchema } from './structural-schema.ts';
import { findUnknownFields, pruneUnknown } from './unknown-fields.ts';

const DEPLOYMENT = schemaOfKind({ group: 'apps', version: 'v1', kind: 'Deployment' })!;
const CONFIG_MAP = schemaOfKind({ group: '', version: 'v1', kind: 'ConfigMap' })!;
const REVISION = schemaOfKind({ group: 'apps', version: 'v1', kind: 'ControllerRevision' })!;
const WIDGET = customResourceSchema({
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        items: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { b: { type: 'object' } } },
        map: { type: 'object', additionalProperties: { type: 'object', properties: { a: { type: 'string' } } } },
        open: { type: 'object', additionalProperties: true },
        port: { 'x-kubernetes-int-or-string': true },
        template: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          properties: { spec: { type: 'object', properties: {} } },
        },
      },
    },
  },
});

describe('fields that a schema does not know', () => {
  const rows: [name: string, schema: StructuralSchema, object: object, unknown: string[], pruned: object][] = [
    ['none', CONFIG_MAP, { data: { x: '1' } }, [], { data: { x: '1' } }],
    [
      'of a built-in kind, in the order of the object',
      DEPLOYMENT,
      {
        spec: { z: 1, template: { spec: { containers: [{ name: 'a' }, { name: 'b', bar: { c: 1 } }] }, foo: 1 } },
        a: 1,
      },
      ['spec.z', 'spec.template.spec.containers[1].bar', 'spec.template.foo', 'a'],
      { spec: { template: { spec: { containers: [{ name: 'a' }, { name: 'b' }] } } } },
    ],
    [
      'of a custom resource, sorted',
      WIDGET,
      { spec: { z: 1, items: [{ b: 1 }, { a: '1', c: 1 }] }, a: 1, metadata: { name: 'w' } },
      ['a', 'spec.items[0].b', 'spec.items[1].c', 'spec.z'],
      { spec: { items: [{}, { a: '1' }] }, metadata: { name: 'w' } },
    ],
    ['of metadata', CONFIG_MAP, { metadata: { lables: {} } }, ['metadata.lables'], { metadata: {} }],
    ['of a custom resource’s metadata', WIDGET, { metadata: { lables: {} } }, ['metadata.lables'], { metadata: {} }],
    [
      'kept by preserve-unknown-fields',
      WIDGET,
      { spec: { free: { x: [{ y: 1 }] } } },
      [],
      { spec: { free: { x: [{ y: 1 }] } } },
    ],
    [
      'below a declared field that does not keep them itself',
      WIDGET,
      { spec: { free: { b: { x: 1 } } } },
      ['spec.free.b.x'],
      { spec: { free: { b: {} } } },
    ],
    [
      'in the values of a map',
      WIDGET,
      { spec: { map: { k: { a: '1', b: 1 } }, open: { x: { y: 1 } } } },
      ['spec.map.k.b', 'spec.open.x.y'],
      { spec: { map: { k: { a: '1' } }, open: { x: {} } } },
    ],
    [
      'in an embedded resource, which has apiVersion, kind and metadata',
      WIDGET,
      { spec: { template: { apiVersion: 'v1', kind: 'A', metadata: { name: 'x', y: 1 }, z: 1 } } },
      ['spec.template.metadata.y', 'spec.template.z'],
      { spec: { template: { apiVersion: 'v1', kind: 'A', metadata: { name: 'x' } } } },
    ],
    ['never in free content', REVISION, { data: { a: { b: 1 } } }, [], { data: { a: { b: 1 } } }],
    ['not for a value of the wrong type', DEPLOYMENT, { spec: { template: 'x' } }, [], { spec: { template: 'x' } }],
  ];
  for (const [name, schema, object, unknown, pruned] of rows) {
    test(name, () => {
      assert.deepEqual(findUnknownFields(object, schema), unknown);
      const copy = structuredClone(object);
      assert.deepEqual(pruneUnknown(copy, schema), unknown);
      assert.deepEqual(copy, pruned);
    });
  }

  test('a field called __proto__ is one', () => {
    const object = JSON.parse('{"spec":{"__proto__":{"a":1}}}') as object;
    assert.deepEqual(findUnknownFields(object, WIDGET), ['spec.__proto__']);
  });
});

test('whatever the object, nothing is unknown once it is pruned', () => {
  const keys = fc.constantFrom('spec', 'metadata', 'items', 'free', 'map', 'template', 'a', 'b', 'labels');
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(1, 'x', null),
      fc.array(tie('value'), { maxLength: 2 }),
      tie('object'),
    ),
    object: fc.dictionary(keys, tie('value'), { maxKeys: 4 }),
  }));
  fc.assert(
    fc.property(fc.dictionary(keys, value), (object) => {
      for (const schema of [WIDGET, DEPLOYMENT]) {
        const copy = structuredClone(object);
        pruneUnknown(copy, schema);
        assert.deepEqual(findUnknownFields(copy, schema), []);
      }
    }),
  );
});

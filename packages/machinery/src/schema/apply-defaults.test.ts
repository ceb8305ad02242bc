import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { applyDefaults } from './apply-defaults.ts';
import { schemaOfKind } from './builtin-schemas.ts';
import { customResourceSchema } from './custom-resource-schema.ts';
import type { StructuralSchema } from './structural-schema.ts';

const WIDGET = customResourceSchema({
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      default: {},
      properties: {
        replicas: { type: 'integer', default: 1 },
        note: { type: 'string', nullable: true, default: 'none' },
        plain: { type: 'string' },
        maybe: { type: 'string', nullable: true },
        deep: {
          type: 'object',
          default: { a: 'x' },
          properties: { a: { type: 'string' }, b: { type: 'string', default: 'y' } },
        },
        absent: { type: 'object', properties: { b: { type: 'string', default: 'y' } } },
        ports: {
          type: 'array',
          items: { type: 'object', properties: { protocol: { type: 'string', default: 'TCP' } } },
        },
        counts: { type: 'array', items: { type: 'integer', default: 7 } },
        map: {
          type: 'object',
          additionalProperties: { type: 'object', properties: { on: { type: 'boolean', default: true } } },
        },
      },
    },
  },
});
const kind = (group: string, version: string, name: string) => schemaOfKind({ group, version, kind: name })!;

const SPEC = { replicas: 1, note: 'none', deep: { a: 'x', b: 'y' } };

describe('defaults', () => {
  const rows: [name: string, schema: StructuralSchema, object: object, defaulted: object][] = [
    ['are set within defaults', WIDGET, {}, { spec: SPEC }],
    [
      'leave what is there',
      WIDGET,
      { spec: { replicas: 0, note: '', deep: { a: 'z', b: '' } } },
      { spec: { replicas: 0, note: '', deep: { a: 'z', b: '' } } },
    ],
    ['do not make what has none', WIDGET, { spec: { absent: {} } }, { spec: { ...SPEC, absent: { b: 'y' } } }],
    [
      'are set in items and values',
      WIDGET,
      { spec: { ports: [{}, { protocol: 'UDP' }], map: { a: {} } } },
      { spec: { ...SPEC, ports: [{ protocol: 'TCP' }, { protocol: 'UDP' }], map: { a: { on: true } } } },
    ],
    [
      'take the place of nulls that must not be',
      WIDGET,
      { spec: { replicas: null, deep: null, counts: [1, null] } },
      { spec: { ...SPEC, counts: [1, 7] } },
    ],
    [
      'do not take that of nulls that may be',
      WIDGET,
      { spec: { note: null, maybe: null } },
      { spec: { ...SPEC, note: null, maybe: null } },
    ],
    ['are not there for every null: others go', WIDGET, { spec: { plain: null } }, { spec: SPEC }],
    ['are not set in a value of another type', WIDGET, { spec: 'x' }, { spec: 'x' }],
    [
      'of metadata are none; empty maps go',
      WIDGET,
      { metadata: { name: 'a', labels: {}, finalizers: [] } },
      { metadata: { name: 'a' }, spec: SPEC },
    ],
    [
      'of a built-in kind are what its schema says and what a Go struct always has',
      kind('', 'v1', 'Pod'),
      { spec: { containers: [{ name: 'a', ports: [{ containerPort: 80 }] }] } },
      {
        spec: { containers: [{ name: 'a', ports: [{ containerPort: 80, protocol: 'TCP' }], resources: {} }] },
        metadata: {},
        status: {},
      },
    ],
    [
      'times that a struct holds by value',
      kind('apps', 'v1', 'Deployment'),
      { status: { conditions: [{ type: 'A', status: 'True' }] } },
      {
        metadata: {},
        spec: { selector: null, template: { metadata: {}, spec: { containers: null } }, strategy: {} },
        status: { conditions: [{ type: 'A', status: 'True', lastUpdateTime: null, lastTransitionTime: null }] },
      },
    ],
    [
      'empty lists and maps of a built-in kind say nothing',
      kind('', 'v1', 'ConfigMap'),
      { data: {}, binaryData: { a: '' } },
      { metadata: {}, binaryData: { a: '' } },
    ],
    [
      'or null, where they always say something',
      kind('rbac.authorization.k8s.io', 'v1', 'Role'),
      { rules: [] },
      { metadata: {}, rules: null },
    ],
    [
      'an empty struct says something',
      kind('networking.k8s.io', 'v1', 'NetworkPolicy'),
      { spec: { podSelector: {}, ingress: [{ from: [] }] } },
      { metadata: {}, spec: { podSelector: {}, ingress: [{}] } },
    ],
  ];
  for (const [name, schema, object, defaulted] of rows) {
    test(name, () => {
      const copy = structuredClone(object);
      applyDefaults(copy, schema);
      assert.deepEqual(copy, defaulted);
      applyDefaults(copy, schema);
      assert.deepEqual(copy, defaulted, 'again');
    });
  }

  test('are copies', () => {
    const [a, b] = [{}, {}] as { spec: { deep: { a: string } } }[];
    applyDefaults(a, WIDGET);
    a!.spec.deep.a = 'changed';
    applyDefaults(b, WIDGET);
    assert.equal(b!.spec.deep.a, 'x');
  });
});

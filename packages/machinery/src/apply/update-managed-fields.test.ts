import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject, ManagedFieldsEntry } from '../object.ts';
import { schemaOfKind } from '../schema/builtin-schemas.ts';
import { customResourceSchema } from '../schema/custom-resource-schema.ts';
import { type UpdateOptions, updateManagedFields } from './update-managed-fields.ts';

const CONFIG_MAP = schemaOfKind({ group: '', version: 'v1', kind: 'ConfigMap' })!;
const DEPLOYMENT = schemaOfKind({ group: 'apps', version: 'v1', kind: 'Deployment' })!;
const EARLIER = '2026-01-01T00:00:00Z';
const NOW = '2026-01-01T00:10:00Z';

type Data = Record<string, string>;

function configMap(data: Data, managedFields?: ManagedFieldsEntry[]): KubeObject {
  const metadata = { name: 'c', uid: 'u', ...(managedFields ? { managedFields } : {}) };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data } as KubeObject;
}

function entry(manager: string, keys: string[], more: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry {
  const fields = Object.fromEntries(keys.map((key) => [key === '.' ? key : `f:${key}`, {}]));
  return {
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    time: EARLIER,
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': fields },
    ...more,
  } as ManagedFieldsEntry;
}

function update(options: Partial<UpdateOptions> & Pick<UpdateOptions, 'before' | 'after'>) {
  return updateManagedFields({ manager: 'me', time: NOW, schema: CONFIG_MAP, ...options });
}

describe('who owns what after a write', () => {
  const now = { time: NOW };
  const mine = entry('me', ['.', 'a']);
  const rows: [
    name: string,
    before: KubeObject | undefined,
    after: KubeObject,
    entries: ManagedFieldsEntry[] | undefined,
  ][] = [
    ['a creator owns all', undefined, configMap({ a: '1' }), [entry('me', ['.', 'a'], now)]],
    ['without a change nothing moves', configMap({ a: '1' }, [mine]), configMap({ a: '1' }, [mine]), [mine]],
    [
      'what I add is mine, under one entry',
      configMap({ a: '1' }, [mine]),
      configMap({ a: '1', b: '1' }, [mine]),
      [entry('me', ['.', 'a', 'b'], now)],
    ],
    [
      'what I change is no longer theirs',
      configMap({ a: '1', b: '1' }, [entry('you', ['.', 'a', 'b'])]),
      configMap({ a: '2', b: '1' }, [entry('you', ['.', 'a', 'b'])]),
      [entry('you', ['.', 'b']), entry('me', ['a'], now)],
    ],
    [
      'an entry that is left with nothing goes',
      configMap({ a: '1' }, [entry('you', ['a'])]),
      configMap({ a: '2' }, [entry('you', ['a'])]),
      [entry('me', ['a'], now)],
    ],
    [
      'what is removed is nobody’s',
      configMap({ a: '1', b: '1' }, [entry('you', ['a', 'b'])]),
      configMap({ b: '1' }, [entry('you', ['a', 'b'])]),
      [entry('you', ['b'])],
    ],
    [
      'an applier loses what is changed too, and keeps the rest',
      configMap({ a: '1', b: '1' }, [entry('ctl', ['a', 'b'], { operation: 'Apply' })]),
      configMap({ a: '2', b: '1' }, [entry('ctl', ['a', 'b'], { operation: 'Apply' })]),
      [entry('ctl', ['b'], { operation: 'Apply' }), entry('me', ['a'], now)],
    ],
    [
      'who writes through a subresource is somebody else',
      configMap({ a: '1' }, [entry('me', ['.', 'a'], { subresource: 'status' })]),
      configMap({ a: '1', b: '1' }, [entry('me', ['.', 'a'], { subresource: 'status' })]),
      [entry('me', ['.', 'a'], { subresource: 'status' }), entry('me', ['b'], now)],
    ],
    ['a writer that sends no entries changes none', configMap({ a: '1' }, [mine]), configMap({ a: '1' }), [mine]],
    ['an empty list resets', configMap({ a: '1' }, [mine]), configMap({ a: '1' }, []), undefined],
    [
      'one empty entry resets',
      configMap({ a: '1' }, [mine]),
      configMap({ a: '1' }, [{} as ManagedFieldsEntry]),
      undefined,
    ],
    [
      'entries that cannot be read are as if they were not sent',
      configMap({ a: '1' }, [mine]),
      configMap({ a: '1' }, [entry('you', ['a'], { fieldsType: 'FieldsV9' as 'FieldsV1' })]),
      [mine],
    ],
    [
      'entries may be edited',
      configMap({ a: '1' }, [mine]),
      configMap({ a: '1' }, [entry('you', ['a'])]),
      [entry('you', ['a'])],
    ],
    ['who owned nothing before still does not', configMap({ a: '1' }), configMap({ a: '2' }), undefined],
  ];
  for (const [name, before, after, entries] of rows) {
    test(name, () => assert.deepEqual(update({ before, after }), entries));
  }

  test('a subresource’s writer cannot edit entries', () => {
    const before = configMap({ a: '1' }, [mine]);
    assert.deepEqual(update({ before, after: configMap({ a: '1' }, []), subresource: 'status' }), [mine]);
  });
});

test('what identifies an object or is set by the server is not tracked', () => {
  const after: KubeObject = {
    ...configMap({}),
    metadata: {
      name: 'c',
      namespace: 'n',
      uid: 'u',
      resourceVersion: '3',
      generation: 1,
      creationTimestamp: NOW,
      labels: { l: '1' },
      finalizers: ['f'],
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'x' }],
    },
  };
  const [only] = update({ before: undefined, after })!;
  assert.deepEqual(only?.fieldsV1, {
    'f:data': {},
    'f:metadata': {
      'f:finalizers': { '.': {}, 'v:"f"': {} },
      'f:labels': { '.': {}, 'f:l': {} },
      'f:ownerReferences': { '.': {}, 'k:{"uid":"x"}': {} },
    },
  });
});

test('atomic lists and maps are owned whole, items of other lists by their keys', () => {
  const after = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: {
        spec: {
          containers: [{ name: 'app', args: ['a', 'b'], ports: [{ containerPort: 80 }] }],
          nodeSelector: { disk: 'ssd' },
        },
      },
    },
  };
  const [only] = update({ before: undefined, after, schema: DEPLOYMENT })!;
  assert.deepEqual(only?.fieldsV1, {
    'f:spec': {
      'f:selector': {},
      'f:template': {
        'f:spec': {
          'f:containers': {
            'k:{"name":"app"}': {
              '.': {},
              'f:args': {},
              'f:name': {},
              'f:ports': { '.': {}, 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
              // A struct is there even where the object does not show it.
              'f:resources': {},
            },
          },
          'f:nodeSelector': {},
        },
      },
    },
  });
});

test('what the endpoint resets is not tracked', () => {
  const widget = customResourceSchema({
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { a: { type: 'string' } } },
      status: { type: 'object', properties: { b: { type: 'string' } } },
    },
  });
  const after = { apiVersion: 'example.com/v1', kind: 'Widget', spec: { a: '1' }, status: { b: '1' } };
  const fieldsOf = (resetFields: string[][]) =>
    update({ before: undefined, after, schema: widget, resetFields })?.[0]?.fieldsV1;
  assert.deepEqual(fieldsOf([['status']]), { 'f:spec': { '.': {}, 'f:a': {} } });
  assert.deepEqual(fieldsOf([['spec']]), { 'f:status': { '.': {}, 'f:b': {} } });
});

test('no more than ten entries of updaters are kept: the oldest become one', () => {
  let object = configMap({ a: '1' });
  for (let i = 0; i < 13; i++) {
    const after = { ...object, data: { ...(object as KubeObject & { data: Data }).data, [`k${i}`]: '1' } };
    const time = `2026-01-01T00:00:${String(10 + i)}Z`;
    const managedFields = update({ before: i === 0 ? undefined : object, after, manager: `m${i}`, time });
    object = { ...after, metadata: { name: 'c', managedFields: managedFields! } };
  }
  const entries = object.metadata?.managedFields ?? [];
  assert.deepEqual(
    entries.map(({ manager }) => manager),
    ['ancient-changes', 'm4', 'm5', 'm6', 'm7', 'm8', 'm9', 'm10', 'm11', 'm12'],
  );
  assert.deepEqual(
    entries[0],
    entry('ancient-changes', ['.', 'a', 'k0', 'k1', 'k2', 'k3'], { time: '2026-01-01T00:00:13Z' }),
  );
});

test('thousands of entries of updaters become ten in a moment', { timeout: 10_000 }, () => {
  const entries = Array.from({ length: 10_000 }, (_, i) => entry(`m${i}`, [`k${i}`]));
  const data = Object.fromEntries(entries.map((_, i) => [`k${i}`, '1']));
  const [oldest, ...others] =
    update({ before: configMap(data, entries), after: configMap({ ...data, more: '1' }, entries) }) ?? [];
  assert.equal(others.length, 9);
  const fields = oldest?.fieldsV1 as Record<string, object>;
  assert.equal(oldest?.manager, 'ancient-changes');
  assert.ok(Object.keys(fields['f:data'] ?? {}).length >= 9_990);
});

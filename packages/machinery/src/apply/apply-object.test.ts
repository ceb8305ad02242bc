import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { KubeObject, ManagedFieldsEntry } from '../object.ts';
import { customResourceSchema } from '../schema/custom-resource-schema.ts';
import { StatusError } from '../status.ts';
import { type ApplyOptions, applyObject, applyObjectInSteps } from './apply-object.ts';
import {
  applied,
  apply,
  CONFIG_MAP,
  configMap,
  conflictOf,
  DEPLOYMENT,
  entry,
  LATER,
} from './testing/apply-config-map.ts';

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(deepFreeze);
    Object.freeze(value);
  }
  return value;
}

test('the first apply creates what it says and owns it', () => {
  assert.deepEqual(
    applied({ applied: configMap({ a: '1' }) }),
    configMap({ a: '1' }, [entry('me', { 'f:data': { 'f:a': {} } })]),
  );
});

test('a field that is no longer applied goes, one of somebody else stays', () => {
  const live = applied({
    live: applied({ applied: configMap({ a: '1', b: '2' }) }),
    manager: 'you',
    applied: configMap({ a: '1' }),
  });
  const { data, metadata } = applied({ live, applied: configMap({ c: '3' }) });
  assert.deepEqual(data, { a: '1', c: '3' });
  assert.deepEqual(
    metadata?.managedFields?.map(({ manager }) => manager),
    ['you', 'me'],
  );
});

test('an applier that states nothing any more is forgotten', () => {
  const live = applied({ applied: configMap({ a: '1' }) });
  const { metadata, data } = applied({
    live,
    applied: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } },
  });
  assert.equal(metadata?.managedFields, undefined);
  assert.equal(data, undefined);
});

describe('what is written down', () => {
  test('time stands still where nothing changes', () => {
    const live = applied({ applied: configMap({ a: '1' }) });
    const again = apply({ live, applied: configMap({ a: '1' }), time: LATER });
    assert.deepEqual(again, { outcome: 'applied', object: live, changed: false });
    const more = applied({ live, applied: configMap({ a: '2' }), time: LATER });
    assert.equal(more.metadata?.managedFields?.[0]?.time, LATER);
  });

  test('fields that identify the object or that the server sets are nobody’s', () => {
    const wanted = configMap({ a: '1' });
    wanted.metadata = { ...wanted.metadata, namespace: 'n', uid: 'u', labels: { l: '1' }, generation: 3 };
    const { metadata } = applied({ applied: wanted });
    const fields = { 'f:data': { 'f:a': {} }, 'f:metadata': { 'f:labels': { 'f:l': {} } } };
    assert.deepEqual(metadata?.managedFields, [entry('me', fields)]);
  });

  test('what the endpoint resets is nobody’s', () => {
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: { paused: true },
      status: { replicas: 1 },
    };
    const { metadata } = applied({ applied: deployment, schema: DEPLOYMENT, resetFields: [['status']] });
    assert.deepEqual(metadata?.managedFields?.[0]?.fieldsV1, { 'f:spec': { 'f:paused': {} } });
  });

  test('all that was there before anybody’s fields were tracked has an owner of its own', () => {
    const { metadata } = applied({ live: configMap({ a: '1' }), applied: configMap({ b: '1' }) });
    assert.deepEqual(metadata?.managedFields, [
      entry('me', { 'f:data': { 'f:b': {} } }),
      entry('before-first-apply', { 'f:data': { '.': {}, 'f:a': {} } }, { operation: 'Update' }),
    ]);
  });

  test('an entry of a version that is no longer served goes', () => {
    const live = configMap({ a: '1' }, [entry('old', { 'f:data': { 'f:a': {} } }, { apiVersion: 'v0' })]);
    const versions = (version: string) =>
      version === 'v1' ? { schema: CONFIG_MAP, convert: (object: KubeObject) => object } : undefined;
    const { metadata, data } = applied({ live, applied: configMap({ b: '1' }), versions });
    assert.deepEqual(
      metadata?.managedFields?.map(({ manager }) => manager),
      ['me'],
    );
    assert.deepEqual(data, { a: '1', b: '1' });
  });
});

describe('containers', () => {
  const schema = customResourceSchema({
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          map: { type: 'object', additionalProperties: { type: 'string' } },
          set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
          tags: { type: 'array', items: { type: 'string' } },
        },
      },
    },
  });
  const widget = (spec: object, managedFields?: ManagedFieldsEntry[]) =>
    ({ apiVersion: 'v1', kind: 'W', metadata: managedFields ? { managedFields } : {}, spec }) as KubeObject;
  const own = { 'f:map': { 'f:a': {} }, 'f:set': { 'v:"a"': {} } };

  test('go with the last of what was in them, and their owner stays', () => {
    const live = widget({ map: { a: '1' }, set: ['a'] }, [
      entry('me', { 'f:spec': own }),
      entry('you', { 'f:spec': { 'f:map': { '.': {} }, 'f:set': { '.': {} } } }, { operation: 'Update' }),
    ]);
    const { spec, metadata } = applied({ live, applied: widget({ tags: ['x'] }), schema }) as KubeObject & {
      spec: unknown;
    };
    assert.deepEqual(spec, { tags: ['x'] });
    assert.deepEqual(metadata?.managedFields?.[1]?.fieldsV1, { 'f:spec': { 'f:map': {}, 'f:set': {} } });
  });

  test('of which parts were owned, and which are one value by now, are owned whole', () => {
    const live = widget({ tags: ['a'] }, [entry('you', { 'f:spec': { 'f:tags': { 'v:"a"': {} } } })]);
    assert.match(conflictOf({ live, applied: widget({ tags: ['b'] }), schema }).message, /with "you": \.spec\.tags$/);
  });
});

describe('what cannot be applied', () => {
  const rows: [
    name: string,
    options: Partial<ApplyOptions> & Pick<ApplyOptions, 'applied'>,
    code: number,
    message: string,
  ][] = [
    [
      'another version',
      { applied: configMap({}), apiVersion: 'v2' },
      400,
      'Incorrect version specified in apply patch. Specified patch version: v1, expected: v2',
    ],
    ['managedFields', { applied: configMap({}, []) }, 400, 'metadata.managedFields must be nil'],
    [
      'an unknown field',
      { applied: { ...configMap({}), foo: 1 } as KubeObject },
      500,
      'failed to create typed patch object (/c; /v1, Kind=ConfigMap): .foo: field not declared in schema',
    ],
    [
      'values of the wrong type',
      { applied: { ...configMap({}), data: { a: 1, b: [] }, immutable: 'no' } as KubeObject },
      500,
      [
        'failed to create typed patch object (/c; /v1, Kind=ConfigMap): errors:',
        '  .data.a: expected string, got &value.valueUnstructured{Value:1}',
        '  .data.b: expected string, got &value.valueUnstructured{Value:[]interface {}{}}',
        '  .immutable: expected boolean, got &{no}',
      ].join('\n'),
    ],
    [
      'onto an object whose entries cannot be read',
      { applied: configMap({}), live: configMap({}, [entry('x', { nonsense: {} })]) },
      500,
      'failed to decode managed fields: an entry of managedFields cannot be read',
    ],
  ];
  for (const [name, options, code, message] of rows) {
    test(name, () => {
      assert.throws(
        () => apply(options),
        (error: unknown) => error instanceof StatusError && error.code === code && error.message === message,
      );
    });
  }
});

describe('whatever is applied', () => {
  const data = fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), fc.constantFrom('1', '2'));
  const step = fc.record({ manager: fc.constantFrom('m1', 'm2', 'm3'), data });

  test('arguments stay as they are, and applying again comes to nothing', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        let live: KubeObject | undefined;
        for (const { manager, data: wanted } of steps) {
          const options = { live, manager, applied: deepFreeze(configMap(wanted)), force: true };
          live = deepFreeze(applied(options));
          assert.deepEqual(apply({ ...options, live, force: false, time: LATER }), {
            outcome: 'applied',
            object: live,
            changed: false,
          });
        }
      }),
    );
  });

  test('the data are what the last apply of each key said, without what nobody wants', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        let live: KubeObject | undefined;
        const owners = new Map<string, Set<string>>();
        const values = new Map<string, string>();
        for (const { manager, data: wanted } of steps) {
          live = applied({ live, manager, applied: configMap(wanted), force: true });
          for (const [key, managers] of owners) if (!Object.hasOwn(wanted, key)) managers.delete(manager);
          for (const [key, value] of Object.entries(wanted)) {
            const shares = values.get(key) === value && (owners.get(key)?.size ?? 0) > 0;
            owners.set(key, shares ? owners.get(key)!.add(manager) : new Set([manager]));
            values.set(key, value);
          }
        }
        const expected = [...values].filter(([key]) => owners.get(key)!.size > 0);
        const found = Object.entries((live as { data?: Record<string, string> }).data ?? {});
        assert.deepEqual(new Map(found), new Map(expected));
      }),
    );
  });
});

test('an apply of many items comes in steps, with the outcome that it has at once', () => {
  const data = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, 'v']));
  const live = applied({ applied: configMap({ ...data, k1: 'w' }), manager: 'other' });
  const options = { live, manager: 'me', time: LATER, schema: CONFIG_MAP, applied: configMap(data), force: true };
  const steps = applyObjectInSteps(options);
  let pauses = 0;
  let last = steps.next();
  for (; !last.done; last = steps.next()) pauses += 1;
  assert.deepEqual(last.value, applyObject(options));
  assert.ok(pauses >= 5, `${pauses} pauses`);
});

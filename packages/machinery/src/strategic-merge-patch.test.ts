import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseApiVersion } from './kinds.ts';
import type { KubeObject, Status } from './object.ts';
import { schemaOfKind } from './schema/builtin-schemas.ts';
import { StatusError } from './status.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';

const POD = schemaOfKind({ group: '', version: 'v1', kind: 'Pod' })!;
const DEPLOYMENT = schemaOfKind({ group: 'apps', version: 'v1', kind: 'Deployment' })!;

/** A patch that a kube-apiserver 1.36 was sent; objects have no more than what it touches. */
interface Recorded {
  name: string;
  before: KubeObject;
  patch: unknown;
  after?: KubeObject;
  refusal?: Status;
}

const recorded = readFileSync(new URL('fixtures/recorded-strategic-merge-patches.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded);

function statusOf(run: () => unknown): Status {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError) return error.status;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('patches, against what a kube-apiserver made of them', () => {
  for (const { name, before, patch, after, refusal } of recorded) {
    test(`${name}: ${JSON.stringify(patch)}`, () => {
      const schema = schemaOfKind({ ...parseApiVersion(before.apiVersion!), kind: before.kind! })!;
      if (refusal)
        assert.deepEqual(
          statusOf(() => applyStrategicMergePatch(before, patch, schema)),
          refusal,
        );
      else assert.deepEqual(applyStrategicMergePatch(before, patch, schema), after);
    });
  }
});

describe('lists', () => {
  const containers = (...items: object[]) => ({ spec: { containers: items } });
  const named = (...names: string[]) => names.map((name) => ({ name }));
  const ordered = (order: string[], items: object[] | undefined) => ({
    spec: { '$setElementOrder/containers': named(...order), ...(items ? { containers: items } : {}) },
  });
  const rows: [name: string, before: object, patch: object, after: object][] = [
    [
      'an item is merged by its key',
      containers({ name: 'a', image: '1' }, { name: 'b' }),
      containers({ name: 'a', tty: true }),
      containers({ name: 'a', image: '1', tty: true }, { name: 'b' }),
    ],
    [
      'a new item comes first',
      containers({ name: 'a' }),
      containers({ name: 'b' }),
      containers({ name: 'b' }, { name: 'a' }),
    ],
    [
      'an item is deleted',
      containers(...named('a', 'b')),
      containers({ name: 'a', $patch: 'delete' }),
      containers({ name: 'b' }),
    ],
    [
      'a field of an item is deleted',
      containers({ name: 'a', image: '1' }),
      containers({ name: 'a', image: null }),
      containers({ name: 'a' }),
    ],
    [
      'the whole list is replaced',
      containers(...named('a', 'b')),
      containers({ name: 'c' }, { $patch: 'replace' }),
      containers({ name: 'c' }),
    ],
    [
      'the order alone',
      containers(...named('a', 'b', 'c')),
      ordered(['c', 'a', 'b'], undefined),
      containers(...named('c', 'a', 'b')),
    ],
    [
      'the order with items',
      containers(...named('a', 'b')),
      ordered(['x', 'b', 'a'], [{ name: 'x' }]),
      containers(...named('x', 'b', 'a')),
    ],
    [
      'an item that the order leaves out keeps its place',
      containers(...named('a', 'b', 'c')),
      ordered(['c', 'a'], undefined),
      containers(...named('b', 'c', 'a')),
    ],
    [
      'an absent list gets the items without directives',
      { spec: {} },
      containers({ name: 'a', env: [{ name: 'x', $patch: 'delete' }, { name: 'y' }] }),
      containers({ name: 'a', env: [{ name: 'y' }] }),
    ],
    [
      'a list without a merge key is replaced',
      { spec: { tolerations: [{ key: 'a' }] } },
      { spec: { tolerations: [{ key: 'b' }] } },
      { spec: { tolerations: [{ key: 'b' }] } },
    ],
    [
      'a merged list of scalars has each once',
      { metadata: { finalizers: ['a', 'b'] } },
      { metadata: { finalizers: ['c', 'a'] } },
      { metadata: { finalizers: ['c', 'a', 'b'] } },
    ],
    [
      'scalars are deleted by value',
      { metadata: { finalizers: ['a', 'b', 'c'] } },
      { metadata: { '$deleteFromPrimitiveList/finalizers': ['a', 'c'] } },
      { metadata: { finalizers: ['b'] } },
    ],
  ];
  for (const [name, before, patch, after] of rows) {
    test(name, () => assert.deepEqual(applyStrategicMergePatch(before, patch, POD), after));
  }
});

describe('objects', () => {
  const rows: [name: string, before: object, patch: object, after: object][] = [
    [
      'null deletes',
      { metadata: { labels: { a: '1', b: '2' } } },
      { metadata: { labels: { a: null } } },
      { metadata: { labels: { b: '2' } } },
    ],
    [
      'replaced',
      { metadata: { labels: { a: '1' } } },
      { metadata: { labels: { $patch: 'replace', b: '2' } } },
      { metadata: { labels: { b: '2' } } },
    ],
    [
      'deleted',
      { spec: { strategy: { type: 'Recreate' } } },
      { spec: { strategy: { $patch: 'delete' } } },
      { spec: { strategy: {} } },
    ],
    [
      'with keys to retain',
      { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } } },
      { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate', rollingUpdate: null } } },
      { spec: { strategy: { type: 'Recreate' } } },
    ],
    [
      'absent ones come without nulls',
      {},
      { spec: { strategy: { type: null, rollingUpdate: { maxSurge: 1 } } } },
      { spec: { strategy: { rollingUpdate: { maxSurge: 1 } } } },
    ],
  ];
  for (const [name, before, patch, after] of rows) {
    test(name, () => assert.deepEqual(applyStrategicMergePatch(before, patch, DEPLOYMENT), after));
  }
});

describe('what cannot be followed', () => {
  const spec = (content: object) => ({ spec: content });
  const rows: [name: string, before: object, patch: unknown, code: number, message: string][] = [
    ['a patch that is no object', {}, [], 400, 'Invalid JSON Patch'],
    [
      'an unknown directive',
      spec({ hostname: 'a' }),
      spec({ $patch: 'x' }),
      500,
      'unknown patch type: x in map: map[$patch:x]',
    ],
    [
      'a directive to merge items',
      spec({ containers: [] }),
      spec({ containers: [{ name: 'a', $patch: 'merge' }] }),
      500,
      'merging lists cannot yet be specified in the patch',
    ],
    [
      'an item without its key',
      spec({ containers: [{ name: 'a' }] }),
      spec({ containers: [{ image: 'a' }] }),
      500,
      'map: map[image:a] does not contain declared merge key: name',
    ],
    [
      'keys to retain that are no list',
      spec({ securityContext: {} }),
      spec({ securityContext: { $retainKeys: 'a' } }),
      400,
      'invalid patch format of retainKeys',
    ],
    [
      'a value that is not to be retained',
      spec({ securityContext: {} }),
      spec({ securityContext: { $retainKeys: [], runAsUser: 1 } }),
      400,
      'invalid patch format of retainKeys',
    ],
    [
      'an order that is no list',
      spec({ containers: [] }),
      spec({ '$setElementOrder/containers': 'a' }),
      500,
      'expected a []interface {}, but received a string',
    ],
    [
      'an order of an unknown field',
      spec({}),
      spec({ '$setElementOrder/foo': [] }),
      500,
      'unable to find api field in struct PodSpec for the json field "foo"',
    ],
    [
      'an object for an unknown field',
      { foo: {} },
      { foo: {} },
      500,
      'unable to find api field in struct Pod for the json field "foo"',
    ],
  ];
  for (const [name, before, patch, code, message] of rows) {
    test(name, () => {
      const status = statusOf(() => applyStrategicMergePatch(before, patch, POD));
      assert.deepEqual({ code: status.code, message: status.message }, { code, message });
    });
  }
});

test('an object may be replaced by its schema', () => {
  const budget = schemaOfKind({ group: 'policy', version: 'v1', kind: 'PodDisruptionBudget' })!;
  const selector = (labels: object) => ({ spec: { selector: { matchLabels: labels } } });
  assert.deepEqual(applyStrategicMergePatch(selector({ a: '1' }), selector({ b: '2' }), budget), selector({ b: '2' }));
});

test('arguments stay as they are, an empty patch changes nothing, the same patch twice is as once', () => {
  const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 });
  const plain = { noNullPrototype: true };
  const labels = fc.dictionary(fc.constantFrom('x', '__proto__'), fc.constantFrom('1', '2'), plain);
  const containers = names.map((all: string[]) => all.map((name) => ({ name, image: `${name}:1` })));
  const pod = fc.record({ metadata: fc.record({ labels }, plain), spec: fc.record({ containers }, plain) }, plain);
  fc.assert(
    fc.property(pod, pod, (before, patch) => {
      const was = JSON.stringify([before, patch]);
      const once = applyStrategicMergePatch(before, patch, POD);
      assert.equal(JSON.stringify([before, patch]), was);
      assert.deepEqual(applyStrategicMergePatch(before, {}, POD), before);
      assert.deepEqual(applyStrategicMergePatch(once, patch, POD), once);
    }),
  );
});

describe('patches of many items take no longer than they are long', () => {
  const containers = (count: number, more: object) =>
    Array.from({ length: count }, (_, i) => ({ name: `c${i}`, ...more }));
  const pod = (list: object[]) => ({ metadata: { finalizers: [] as string[] }, spec: { containers: list } });
  const rows: [name: string, patch: object, left: number][] = [
    ['merged', { spec: { containers: containers(30_000, { image: 'b' }) } }, 30_000],
    ['deleted', { spec: { containers: containers(30_000, { $patch: 'delete' }) } }, 0],
    ['retained', { spec: { $retainKeys: ['containers', ...containers(30_000, {}).map(({ name }) => name)] } }, 20_000],
  ];
  for (const [name, patch, left] of rows) {
    test(name, { timeout: 10_000 }, () => {
      const { spec } = applyStrategicMergePatch(pod(containers(20_000, { image: 'a' })), patch, POD);
      assert.equal((spec as { containers: object[] }).containers.length, left);
    });
  }
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isStatusError, type KubeObject, type OpenApiSchema } from '@asterism/machinery';
import { openTestRegistry, type TestRegistry } from '../compose/testing/test-registry.ts';
import type { DefinitionVersion } from './custom-resource-definition.ts';

const WIDGETS = 'example.com/v1/widgets';
const REF = { namespace: 'default', name: 'a' };
const INTEGER: OpenApiSchema = { type: 'integer' };
const SCHEMA: OpenApiSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        n: { ...INTEGER, minimum: 0 },
        object: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
        },
        list: { type: 'array', items: INTEGER, 'x-kubernetes-list-type': 'set' },
      },
    },
    status: { type: 'object', properties: { n: INTEGER } },
  },
};

async function openWidgets(version: Partial<DefinitionVersion> = {}): Promise<TestRegistry> {
  const t = await openTestRegistry();
  const served = Promise.withResolvers<void>();
  const stop = t.registry.onChange(() => {
    if (t.registry.find('example.com', 'v1', 'widgets')) served.resolve();
  });
  await t.create('apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: SCHEMA }, ...version }],
    },
  });
  await served.promise;
  stop();
  return t;
}

function widget(spec: object, more: object = {}): KubeObject {
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec, ...more };
}

/** The faults of a refused request, or its message where it has none. */
async function faultsOf(promise: Promise<unknown>): Promise<string[]> {
  const error = await promise.catch((caught: unknown) => caught);
  assert.ok(isStatusError(error), 'it was not refused');
  const { causes = [] } = error.status.details ?? {};
  if (causes.length === 0) return [`${error.code} ${error.message}`];
  return causes.map(({ field, message }) => `${field}: ${message}`);
}

describe('a custom resource', () => {
  test('is checked value by value, then as a Scale, then for embedded resources, then for lists', async () => {
    const scale = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' };
    await using t = await openWidgets({ subresources: { scale, status: {} } });
    assert.deepEqual(await faultsOf(t.create(WIDGETS, widget({ list: [1, 1], object: {}, n: -1 }))), [
      'spec.n: Invalid value: -1: spec.n in body should be greater than or equal to 0',
      '.spec.n: Invalid value: -1: should be a non-negative integer',
      'spec.object.apiVersion: Required value',
      'spec.object.kind: Required value',
      'spec.list[1]: Duplicate value: 1',
    ]);
  });

  test('whose embedded metadata cannot be read is a bad request', async () => {
    await using t = await openWidgets();
    const object = { apiVersion: 'v1', kind: 'X', metadata: { labels: 'x' } };
    assert.deepEqual(await faultsOf(t.create(WIDGETS, widget({ object }))), [
      '400 Widget in version "v1" cannot be handled as a Widget: spec.object.metadata: Invalid value: {"labels":"x"}: json: cannot unmarshal string into Go struct field ObjectMeta.labels of type map[string]string',
    ]);
  });

  test('has embedded metadata as a server writes it', async () => {
    await using t = await openWidgets();
    const object = { apiVersion: 'v1', kind: 'X', metadata: { name: 'x', labels: {}, unknown: 1 }, more: true };
    const { spec } = await t.create(WIDGETS, widget({ object }));
    assert.deepEqual(spec, { object: { apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, more: true } });
  });

  test('has its status checked as a value of its own', async () => {
    await using t = await openWidgets({ subresources: { status: {} } });
    await t.create(WIDGETS, widget({}));
    const patch = { type: 'merge' as const, body: { status: { n: 'x' } } };
    const context = t.context({ subresource: 'status' });
    assert.deepEqual(await faultsOf(t.registry.patch(t.resource(WIDGETS), REF, patch, context)), [
      'status.n: Invalid value: "string": n in body must be of type integer: "string"',
    ]);
  });

  test('whose list has no keys to tell its items apart is refused for that, not for its owners', async () => {
    await using t = await openWidgets();
    assert.deepEqual(await faultsOf(t.create(WIDGETS, widget({ list: [{}] }))), [
      'spec.list[0]: Invalid value: "object": spec.list[0] in body must be of type integer: "object"',
    ]);
  });

  test('is replaced only by who says which version of it was seen', async () => {
    await using t = await openWidgets();
    await t.create(WIDGETS, widget({}));
    const update = t.registry.update(t.resource(WIDGETS), REF, widget({ n: 1 }), t.context({ namespace: 'default' }));
    assert.deepEqual(await faultsOf(update), [
      'metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    ]);
  });

  test('is warned about a finalizer without a domain once, when it is added', async () => {
    await using t = await openWidgets();
    await t.create(WIDGETS, widget({}, { metadata: { name: 'a', finalizers: ['mine'] } }));
    const patch = { type: 'merge' as const, body: { spec: { n: 1 } } };
    await t.registry.patch(t.resource(WIDGETS), REF, patch, t.context());
    assert.equal(t.warnings.length, 1);
    assert.match(t.warnings[0] ?? '', /^metadata.finalizers: "mine": prefer a domain-qualified finalizer name/);
  });
});

test('the status of a definition can be changed to name fewer stored versions', async () => {
  await using t = await openWidgets();
  const definitions = t.resource('apiextensions.k8s.io/v1/customresourcedefinitions');
  const ref = { name: 'widgets.example.com' };
  const patch = { type: 'merge' as const, body: { status: { storedVersions: ['v0'] } } };
  const { stored } = await t.registry.patch(definitions, ref, patch, t.context({ subresource: 'status' }));
  assert.deepEqual((stored.parse().status as { storedVersions: string[] }).storedVersions, ['v0']);
  const touch = { type: 'merge' as const, body: { metadata: { labels: { a: 'b' } } } };
  const faults = await faultsOf(t.registry.patch(definitions, ref, touch, t.context()));
  assert.match(faults[0] ?? '', /^status.storedVersions\[0\]: Invalid value: "v0": missing from spec.versions/);
});

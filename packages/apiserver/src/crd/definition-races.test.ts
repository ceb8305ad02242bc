import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject, OpenApiSchema } from '@asterism/machinery';
import { names, openTestRegistry, refused, type TestRegistry } from '../compose/testing/test-registry.ts';
import { createMemoryStorage } from '../storage/memory-storage.ts';
import { StorageError } from '../storage/storage-error.ts';
import type { AdmissionStep } from '../contract/admission-step.ts';

const DEFINITIONS = 'apiextensions.k8s.io/v1/customresourcedefinitions';
const WIDGETS = 'example.com/v1/widgets';
const NAMESPACE = { namespace: 'default' };
const NOT_SERVED = 'the server could not find the requested resource';

function definition(schema: OpenApiSchema = { type: 'object' }): KubeObject {
  return {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
}

function widget(name: string): KubeObject {
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name } };
}

/** Resolves when widgets are served, or are no more. */
async function served(t: TestRegistry, wanted: boolean): Promise<void> {
  for (;;) {
    if ((t.registry.find('example.com', 'v1', 'widgets') !== undefined) === wanted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = t.registry.onChange(resolve);
    await promise;
    stop();
  }
}

function remove(t: TestRegistry) {
  return t.registry.delete(t.resource(DEFINITIONS), { name: 'widgets.example.com' }, {}, t.context());
}

test('a request that began before its definition went is answered by what is served when its body is there', async () => {
  await using t = await openTestRegistry();
  await t.create(DEFINITIONS, definition());
  await served(t, true);
  const before = t.resource(WIDGETS);
  await remove(t);
  await served(t, false);
  await refused(t.registry.create(before, widget('a'), t.context(NAMESPACE)), 404, NOT_SERVED);
  await refused(t.registry.list(before), 404, NOT_SERVED);
  await refused(t.registry.watch(before, {}), 404, NOT_SERVED);
  await t.create(
    DEFINITIONS,
    definition({ type: 'object', required: ['spec'], properties: { spec: { type: 'object' } } }),
  );
  await served(t, true);
  await refused(t.registry.create(before, widget('a'), t.context(NAMESPACE)), 422, /spec: Required value/);
  assert.deepEqual(names((await t.registry.list(t.resource(WIDGETS))).items), []);
});

test('nothing is created of a definition that went while it was admitted', async () => {
  const admission: AdmissionStep[] = [];
  await using t = await openTestRegistry({ admission });
  await t.create(DEFINITIONS, definition());
  await served(t, true);
  admission.push({
    async admit({ name, object }) {
      if (name !== 'late') return object;
      await remove(t);
      await served(t, false);
      return object;
    },
  });
  await refused(
    t.create(WIDGETS, widget('late')),
    403,
    /create not allowed while custom resource definition is termin/,
  );
  await t.create(DEFINITIONS, definition());
  await served(t, true);
  assert.deepEqual(names((await t.registry.list(t.resource(WIDGETS))).items), []);
});

test('a watch that waits for a resourceVersion while its definition goes ends', async () => {
  await using t = await openTestRegistry();
  await t.create(DEFINITIONS, definition());
  await served(t, true);
  const resourceVersion = String(Number(t.registry.resourceVersion) + 10);
  const watching = t.registry.watch(t.resource(WIDGETS), {
    resourceVersion,
    sendInitialEvents: true,
    resourceVersionMatch: 'NotOlderThan',
    allowBookmarks: true,
  });
  await remove(t);
  await served(t, false);
  for (let i = 0; i < 10; i++) await t.create('v1/configmaps', { metadata: { name: `c${i}` } });
  const stream = await watching;
  assert.equal(stream.ended, true);
});

test('a definition that could not be emptied, for the storage did not write, is tried again', async () => {
  const memory = createMemoryStorage();
  let failures = 0;
  const storage: typeof memory = {
    open: (onCommit, onObject) => memory.open(onCommit, onObject),
    write(changes) {
      if (failures === 0 || !changes.some(({ groupResource }) => groupResource === 'widgets.example.com'))
        return memory.write(changes);
      failures--;
      return Promise.reject(new StorageError('FULL', 'no space left'));
    },
    backup: (file) => memory.backup(file),
    close: () => memory.close(),
    [Symbol.asyncDispose]: () => memory.close(),
  };
  const errors: unknown[] = [];
  await using t = await openTestRegistry({ storage, onError: (error) => errors.push(error) });
  await t.create(DEFINITIONS, definition());
  await served(t, true);
  await t.create(WIDGETS, widget('a'));
  failures = 3;
  await remove(t);
  await served(t, false);
  assert.match(String(errors), /no space left/);
});

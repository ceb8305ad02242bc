import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OpenApiSchema } from '@asterism/machinery';
import { nextEvents, openTestRegistry, refused } from '../compose/testing/test-registry.ts';
import { createMemoryStorage } from '../storage/memory-storage.ts';
import type { CustomResourceDefinition, DefinitionVersion } from './custom-resource-definition.ts';
import {
  DEFINITIONS,
  NAMESPACE,
  SCHEMA,
  WIDGETS,
  define,
  definition,
  patchDefinition,
  until,
  widget,
} from './testing/test-widgets.ts';

describe('custom resources', () => {
  test('are served once their definition is established, which its status then says', async () => {
    await using t = await openTestRegistry();
    assert.equal(t.registry.find('example.com', 'v1', 'widgets'), undefined);
    await define(t, definition());
    const served = t.resource(WIDGETS);
    assert.deepEqual(
      [served.singular, served.listKind, served.shortNames, served.categories],
      ['widget', 'WidgetList', ['wd'], ['all']],
    );
    const { status } = (await t.get(DEFINITIONS, 'widgets.example.com')) as CustomResourceDefinition;
    assert.deepEqual(
      status?.conditions?.map(({ type, status: value, reason }) => [type, value, reason]),
      [
        ['NamesAccepted', 'True', 'NoConflicts'],
        ['Established', 'True', 'InitialNamesAccepted'],
      ],
    );
    assert.deepEqual(status?.acceptedNames, {
      plural: 'widgets',
      singular: 'widget',
      kind: 'Widget',
      listKind: 'WidgetList',
      shortNames: ['wd'],
      categories: ['all'],
    });
    assert.deepEqual(status?.storedVersions, ['v1']);
  });

  test('are pruned, defaulted and validated by their schema', async () => {
    await using t = await openTestRegistry();
    await define(t, definition());
    const created = await t.create(WIDGETS, widget('a', { size: 2, unknown: true }));
    assert.deepEqual(created.spec, { size: 2, colour: 'red' });
    assert.equal(created.metadata?.generation, 1);
    assert.deepEqual(t.warnings, ['unknown field "spec.unknown"']);
    await refused(t.create(WIDGETS, widget('b', {})), 422, /spec.size: Required value/);
    await refused(
      t.create(WIDGETS, widget('b', { size: 0 })),
      422,
      /spec.size: Invalid value: 0: .*greater than or equal to 1/,
    );
    await refused(
      t.create(WIDGETS, widget('b', { size: 1, colour: 'green' })),
      422,
      /spec.colour: Unsupported value: "green"/,
    );
    await refused(
      t.create(WIDGETS, widget('b', { size: 1, x: 1 }), { fieldValidation: 'Strict' }),
      400,
      /unknown field "spec.x"/,
    );
    const strategic = t.registry.patch(
      t.resource(WIDGETS),
      { ...NAMESPACE, name: 'a' },
      { type: 'strategic', body: {} },
      t.context(),
    );
    await refused(strategic, 415);
  });

  test('a change of the schema holds for the next request, and for what was stored before', async () => {
    await using t = await openTestRegistry();
    await define(t, definition());
    await t.create(WIDGETS, widget('a'));
    const stream = await t.registry.watch(t.resource(WIDGETS), NAMESPACE);
    const properties = { ...SCHEMA.properties?.spec?.properties, shape: { type: 'string', default: 'round' } };
    const spec = { ...SCHEMA.properties?.spec, properties };
    const schema = { ...SCHEMA, properties: { ...SCHEMA.properties, spec } };
    await patchDefinition(t, {
      spec: { versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }] },
    });
    assert.deepEqual((await t.get(WIDGETS, 'a')).spec, { size: 1, colour: 'red', shape: 'round' });
    assert.deepEqual((await t.create(WIDGETS, widget('b', { size: 1, shape: 'flat' }))).spec, {
      size: 1,
      colour: 'red',
      shape: 'flat',
    });
    assert.deepEqual(await nextEvents(stream, 9), ['ADDED a'], 'watches of the old schema end');
  });

  test('have a status of its own and a scale where the definition says so', async () => {
    await using t = await openTestRegistry();
    const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
    await define(t, definition({ subresources: { status: {}, scale } }));
    const widgets = t.resource(WIDGETS);
    const ref = { ...NAMESPACE, name: 'a' };
    const created = await t.create(WIDGETS, { ...widget('a', { size: 1, replicas: 2 }), status: { ready: true } });
    assert.equal(created.status, undefined);
    const both = {
      type: 'merge' as const,
      body: { spec: { size: 5 }, status: { ready: true }, metadata: { labels: { a: 'b' } } },
    };
    const byStatus = (await t.registry.patch(widgets, ref, both, t.context({ subresource: 'status' }))).stored.parse();
    assert.deepEqual(
      [byStatus.spec, byStatus.status, byStatus.metadata?.labels, byStatus.metadata?.generation],
      [created.spec, { ready: true }, undefined, 1],
    );
    const byMain = (
      await t.registry.patch(widgets, ref, { type: 'merge', body: { spec: { size: 5 }, status: null } }, t.context())
    ).stored.parse();
    assert.deepEqual(
      [(byMain.spec as { size: number }).size, byMain.status, byMain.metadata?.generation],
      [5, { ready: true }, 2],
    );
    await t.registry.patch(
      widgets,
      ref,
      { type: 'merge', body: { spec: { replicas: 4 } } },
      t.context({ subresource: 'scale' }),
    );
    assert.equal(((await t.get(WIDGETS, 'a')).spec as { replicas: number }).replicas, 4);
    const shown = (await t.registry.get(widgets, ref, { subresource: 'scale' })).parse();
    assert.deepEqual([shown.spec, shown.status], [{ replicas: 4 }, { replicas: 0 }]);
  });

  test('are shown at once with the status that their schema gives to those that have none', async () => {
    await using t = await openTestRegistry();
    const status = { type: 'object', default: {}, properties: { phase: { type: 'string', default: 'New' } } };
    const openAPIV3Schema = { ...SCHEMA, properties: { ...SCHEMA.properties, status } } as OpenApiSchema;
    await define(t, definition({ subresources: { status: {} }, schema: { openAPIV3Schema } }));
    assert.deepEqual((await t.create(WIDGETS, widget('a'))).status, { phase: 'New' });
    assert.deepEqual((await t.get(WIDGETS, 'a')).status, { phase: 'New' });
  });

  test('in several versions are the same object, pruned and defaulted by the version that it is stored in', async () => {
    await using t = await openTestRegistry();
    const open: OpenApiSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const v2: DefinitionVersion = { name: 'v2', served: true, storage: false, schema: { openAPIV3Schema: open } };
    const [v1] = (definition().spec as { versions: DefinitionVersion[] }).versions;
    await define(t, definition({}, { versions: [v1 as DefinitionVersion, v2] }));
    await t.create('example.com/v2/widgets', { ...widget('a', { size: 3, more: 'x' }), apiVersion: 'example.com/v2' });
    assert.deepEqual((await t.get('example.com/v2/widgets', 'a')).spec, { size: 3, colour: 'red' });
    const asV1 = await t.get(WIDGETS, 'a');
    assert.deepEqual([asV1.apiVersion, asV1.spec], ['example.com/v1', { size: 3, colour: 'red' }]);
    const stream = await t.registry.watch(t.resource('example.com/v2/widgets'), NAMESPACE);
    assert.equal(stream.take()[0]?.object.parse().apiVersion, 'example.com/v2');
    await patchDefinition(t, {
      spec: {
        versions: [
          { ...v1, storage: false },
          { ...v2, storage: true },
        ],
      },
    });
    const { status } = (await t.get(DEFINITIONS, 'widgets.example.com')) as CustomResourceDefinition;
    assert.deepEqual(status?.storedVersions, ['v1', 'v2']);
    assert.equal((await t.get(WIDGETS, 'a')).apiVersion, 'example.com/v1');
  });

  test('are stored anew by a write that changes nothing, where the version that is stored is another', async () => {
    await using t = await openTestRegistry();
    const v2 = { name: 'v2', served: true, schema: { openAPIV3Schema: SCHEMA } };
    await define(
      t,
      definition(
        {},
        {
          versions: [
            { ...v2, name: 'v1', storage: true },
            { ...v2, storage: false },
          ],
        },
      ),
    );
    const touch = async (): Promise<string | undefined> => {
      const patch = { type: 'merge', body: {} } as const;
      const { stored } = await t.registry.patch(t.resource(WIDGETS), { ...NAMESPACE, name: 'a' }, patch, t.context());
      return stored.parse().metadata?.resourceVersion;
    };
    const { metadata } = await t.create(WIDGETS, widget('a'));
    assert.equal(await touch(), metadata?.resourceVersion);
    const versions = [
      { ...v2, name: 'v1', storage: false },
      { ...v2, storage: true },
    ];
    await patchDefinition(t, { spec: { versions } });
    const anew = await touch();
    assert.notEqual(anew, metadata?.resourceVersion);
    assert.equal(await touch(), anew);
  });

  test('can be selected by the fields that the definition names', async () => {
    await using t = await openTestRegistry();
    await define(t, definition({ selectableFields: [{ jsonPath: '.spec.colour' }] }));
    await t.create(WIDGETS, widget('a'));
    await t.create(WIDGETS, widget('b', { size: 1, colour: 'blue' }));
    const widgets = t.resource(WIDGETS);
    const found = await t.registry.list(widgets, { ...NAMESPACE, fieldSelector: 'spec.colour=blue' });
    assert.equal(found.items.length, 1);
    await refused(
      t.registry.list(widgets, { ...NAMESPACE, fieldSelector: 'spec.size=1' }),
      400,
      /field label not supported: spec.size/,
    );
  });

  test('names that another definition has are not given again, until they are free', async () => {
    await using t = await openTestRegistry();
    await define(t, definition());
    const names = { plural: 'gadgets', kind: 'Widget', singular: 'gadget', listKind: 'GadgetList' };
    const other = { ...definition({}, { names }), metadata: { name: 'gadgets.example.com' } };
    await t.create(DEFINITIONS, other);
    const refusedNames = async (): Promise<boolean> => {
      const { status } = (await t.get(DEFINITIONS, 'gadgets.example.com')) as CustomResourceDefinition;
      return (
        status?.conditions?.some(
          ({ type, status: value, reason }) =>
            type === 'NamesAccepted' && value === 'False' && reason === 'KindConflict',
        ) ?? false
      );
    };
    await until(t, refusedNames);
    assert.equal(t.registry.find('example.com', 'v1', 'gadgets'), undefined);
    await t.registry.delete(t.resource(DEFINITIONS), { name: 'widgets.example.com' }, {}, t.context());
    await until(t, () => t.registry.find('example.com', 'v1', 'gadgets') !== undefined);
  });

  test('go with their definition, which waits for the last of them', async () => {
    await using t = await openTestRegistry();
    await define(t, definition());
    const held = widget('held');
    await t.create(WIDGETS, { ...held, metadata: { ...held.metadata, finalizers: ['example.com/x'] } });
    await t.create(WIDGETS, widget('free'));
    const widgets = t.resource(WIDGETS);
    const deleted = await t.registry.delete(t.resource(DEFINITIONS), { name: 'widgets.example.com' }, {}, t.context());
    assert.equal(deleted.finalized, false);
    assert.equal(deleted.stored?.parse().metadata?.deletionGracePeriodSeconds, undefined);
    const again = await t.registry.delete(t.resource(DEFINITIONS), { name: 'widgets.example.com' }, {}, t.context());
    assert.equal(again.stored?.parse().metadata?.deletionGracePeriodSeconds, 0);
    await until(t, async () => (await t.registry.list(widgets, NAMESPACE)).items.length === 1);
    const { status } = (await t.get(DEFINITIONS, 'widgets.example.com')) as CustomResourceDefinition;
    const terminating = status?.conditions?.find(({ type }) => type === 'Terminating');
    assert.deepEqual([terminating?.status, terminating?.reason], ['True', 'InstanceDeletionInProgress']);
    await refused(
      t.create(WIDGETS, widget('late')),
      403,
      /create not allowed while custom resource definition is terminating/,
    );
    await t.registry.patch(
      widgets,
      { ...NAMESPACE, name: 'held' },
      { type: 'merge', body: { metadata: { finalizers: null } } },
      t.context(),
    );
    await until(t, () => t.registry.find('example.com', 'v1', 'widgets') === undefined);
    await refused(t.get(DEFINITIONS, 'widgets.example.com'), 404);
  });

  test('are there again after a restart, at once, and a deletion goes on', async () => {
    const storage = createMemoryStorage();
    {
      await using t = await openTestRegistry({ storage });
      await define(t, definition());
      await t.create(WIDGETS, widget('a'));
    }
    await using t = await openTestRegistry({ storage });
    assert.equal((await t.get(WIDGETS, 'a')).kind, 'Widget');
    await t.registry.delete(t.resource(DEFINITIONS), { name: 'widgets.example.com' }, {}, t.context());
    await t.registry.close();
    await using again = await openTestRegistry({ storage });
    await until(again, () => again.registry.find('example.com', 'v1', 'widgets') === undefined);
  });
});

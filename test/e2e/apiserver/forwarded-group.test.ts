import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { createMemoryStorage, forwardGroupVersion } from '@asterism/apiserver';
import type { Connection } from '@asterism/client';
import {
  CONFIG_MAPS,
  CUSTOM_RESOURCE_DEFINITIONS,
  type KubeObject,
  NAMESPACES,
  type OpenApiSchema,
} from '@asterism/machinery';
import { CONTROL_PLANE_BINARIES } from '../../cluster/control-plane.ts';
import { unlessThere } from '../../cluster/real-kubernetes.ts';
import { DelegatingHost, serve, type Serving } from './delegating-host.ts';

const GADGETS = { group: 'gadgets.example.com', version: 'v1', resource: 'gadgets', kind: 'Gadget', namespaced: true };

const GADGET_SCHEMA: OpenApiSchema = {
  type: 'object',
  properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
};

const GADGET_DEFINITION = {
  metadata: { name: 'gadgets.gadgets.example.com' },
  spec: {
    group: 'gadgets.example.com',
    scope: 'Namespaced',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: GADGET_SCHEMA },
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
      },
    ],
  },
};

const skip = unlessThere(...CONTROL_PLANE_BINARIES, 'kubectl-1.36', 'kubectl-1.20');

describe('beside a real kube-apiserver: objects of its own, one group-version forwarded', {
  skip,
  timeout: 120_000,
}, () => {
  let host: DelegatingHost;
  let serving: Serving;
  let rita: Connection;
  let otto: Connection;

  before(async () => {
    host = await DelegatingHost.start();
    const { client } = host.plane;
    await client.resource<KubeObject>(CUSTOM_RESOURCE_DEFINITIONS).create(GADGET_DEFINITION);
    const gadgets = { resource: 'gadgets', singular: 'gadget', kind: 'Gadget', namespaced: true };
    const extension = forwardGroupVersion({
      group: 'gadgets.example.com',
      version: 'v1',
      transport: host.server.transport,
      resources: [{ ...gadgets, verbs: ['create', 'get', 'list', 'patch', 'watch'], schema: GADGET_SCHEMA }],
      beforeCreate: async ({ namespace = '' }) => {
        const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
        await client.resource(NAMESPACES).apply(object, { fieldManager: 'test' });
      },
    });
    serving = await serve(host, 'localhost', { storage: createMemoryStorage(), extensions: [extension] });
    const impersonate = { apiGroups: [''], resources: ['users', 'groups'], verbs: ['impersonate'] };
    await host.allow('deputies', impersonate);
    await host.bind('deputy', 'deputies', { kind: 'User', name: 'delegating' });
    await host.allow('makers', {
      apiGroups: ['', 'gadgets.example.com'],
      resources: ['configmaps', 'gadgets', 'namespaces'],
      verbs: ['create', 'get', 'list', 'patch', 'watch'],
    });
    const here = { server: serving.url, caData: serving.ca };
    rita = { ...(await host.plane.connectionAs({ commonName: 'rita', organizations: ['makers'] })), ...here };
    otto = { ...(await host.plane.connectionAs({ commonName: 'otto' })), ...here };
  });

  after(async () => {
    await serving?.[Symbol.asyncDispose]();
    await host?.stop();
  });

  test('one kubectl apply puts each object where it belongs, with the rights that the caller has in the host', async () => {
    const kubectl = await host.kubectl('rita', rita);
    await kubectl.run(['create', 'namespace', 'shop']);
    const objects = [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace: 'shop' }, data: { a: '1' } },
      {
        apiVersion: 'gadgets.example.com/v1',
        kind: 'Gadget',
        metadata: { name: 'g', namespace: 'shop' },
        spec: { size: 3 },
      },
    ];
    const stdin = objects.map((object) => JSON.stringify(object)).join('\n---\n');
    for (const outcome of ['created', 'unchanged']) {
      const applied = await kubectl.run(['apply', '-f', '-'], { stdin });
      assert.equal(applied, `configmap/settings ${outcome}\ngadget.gadgets.example.com/g ${outcome}\n`);
    }
    assert.match(await kubectl.run(['get', 'gadgets', '-n', 'shop']), /^NAME +SIZE\ng +3$/m);
    const { client } = host.plane;
    const gadgets = await client.resource<KubeObject>(GADGETS).list({ namespace: 'shop' });
    assert.deepEqual(
      gadgets.items.map(({ spec }) => spec),
      [{ size: 3 }],
    );
    await assert.rejects(client.resource(CONFIG_MAPS).get({ namespace: 'shop', name: 'settings' }), { code: 404 });
    assert.match(await kubectl.run(['explain', 'gadgets.spec.size']), /integer/);

    const refused = await (await host.kubectl('otto', otto)).try(['get', 'gadgets,configmaps', '-n', 'shop']);
    assert.match(refused.stderr, /User "otto" cannot list resource "gadgets"/);
    assert.match(refused.stderr, /User "otto" cannot list resource "configmaps"/);
  });

  test('a watch through it brings what happens in the host', async () => {
    const kubectl = await host.kubectl('rita-watching', rita);
    const watching = kubectl.spawn(['get', 'gadgets', '-n', 'default', '-w', '-o', 'name']);
    const line = once(createInterface(watching.stdout!), 'line');
    const metadata = { name: 'live', namespace: 'default' };
    const gadget = { apiVersion: 'gadgets.example.com/v1', kind: 'Gadget', metadata, spec: { size: 1 } };
    await host.plane.client.resource<KubeObject>(GADGETS).create(gadget);
    assert.deepEqual(await line, ['gadget.gadgets.example.com/live']);
    watching.kill();
    await once(watching, 'close');
  });
});

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { connectionFromKubeconfig, createClient, createTransport, loadKubeconfig } from '@asterism/client';
import { CONFIG_MAPS, isStatusError, type KubeObject, type ResourceType, SECRETS } from '@asterism/machinery';
import { startTestServer } from './test-server.ts';

const WIDGETS: ResourceType = {
  group: 'example.com',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
};
const GADGETS: ResourceType = { ...WIDGETS, resource: 'gadgets', kind: 'Gadget' };

const definition = ({ group, resource, kind, version }: ResourceType): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${resource}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: resource, kind },
    versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
});

const isForbidden = (error: unknown): boolean => isStatusError(error, 'Forbidden');

describe('users of a test server', () => {
  test('may do what their rules and roles say, where they say it, from the start', async () => {
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create'] }];
    await using server = await startTestServer({
      users: {
        alice: { rules },
        bob: { clusterRole: 'view', namespace: 'team' },
        carol: { rules, namespace: 'team' },
        dave: {},
      },
    });
    const { alice, bob, carol, dave } = server.users;
    await alice.client.resource(CONFIG_MAPS).create({ metadata: { namespace: 'default', name: 'a' } });
    await assert.rejects(alice.client.resource(SECRETS).list(), isForbidden);
    await bob.client.resource(CONFIG_MAPS).list({ namespace: 'team' });
    await assert.rejects(bob.client.resource(CONFIG_MAPS).list({ namespace: 'default' }), isForbidden);
    await carol.client.resource(CONFIG_MAPS).create({ metadata: { namespace: 'team', name: 'c' } });
    await assert.rejects(carol.client.resource(CONFIG_MAPS).get({ namespace: 'default', name: 'a' }), isForbidden);
    await assert.rejects(dave.client.resource(CONFIG_MAPS).list(), /User "dave" cannot list resource "configmaps"/);
  });

  test('have groups and a kubeconfig', async () => {
    await using server = await startTestServer({ users: { alice: { groups: ['system:masters'] } } });
    const directory = await mkdtemp(join(tmpdir(), 'test-server-'));
    try {
      const path = await server.users.alice.kubeconfig(join(directory, 'kubeconfig'));
      const connection = await connectionFromKubeconfig(await loadKubeconfig(path));
      await using transport = createTransport(connection);
      await createClient({ transport }).resource(SECRETS).list();
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});

describe('custom kinds of a test server', () => {
  test('are served from the start: objects, texts of several, files', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'test-server-'));
    const file = join(directory, 'crd.json');
    const others = ['sprockets', 'cogs'].map((resource) => ({ ...WIDGETS, resource, kind: `K${resource}` }));
    await writeFile(file, JSON.stringify(definition(GADGETS)));
    try {
      const text = others.map((type) => JSON.stringify(definition(type))).join('\n---\n');
      await using server = await startTestServer({ crds: [definition(WIDGETS), text, pathToFileURL(file)] });
      for (const type of [WIDGETS, GADGETS, ...others]) {
        await server.client.resource(type).create({
          apiVersion: 'example.com/v1',
          kind: type.kind,
          metadata: { namespace: 'default', name: 'a' },
        });
      }
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  const refused: [string, KubeObject | string, RegExp][] = [
    [
      'another kind',
      'apiVersion: v1\nkind: Secret',
      /a text of `crds` is to be a CustomResourceDefinition, not Secret/,
    ],
    ['no YAML', 'a: [', /^TypeError: a text of `crds`: /],
    ['nothing', '# none', /a text of `crds` holds no CustomResourceDefinition/],
    [
      'one that is not valid',
      { ...definition(WIDGETS), spec: {} },
      /CustomResourceDefinition.* "widgets.example.com" is invalid/,
    ],
  ];
  for (const [what, source, words] of refused) {
    test(`are refused, and nothing is left running: ${what}`, async () => {
      await assert.rejects(startTestServer({ crds: [source] }), words);
    });
  }

  test('whose names are taken are refused in words', async () => {
    const other = definition({ ...WIDGETS, resource: 'otherwidgets' });
    await assert.rejects(
      startTestServer({ crds: [definition(WIDGETS), other] }),
      /is not served: .*"(Widget|WidgetList)" is already in use/,
    );
  });
});

describe('a test server', () => {
  test('starts in under 300 ms, with users, custom kinds and faults', async () => {
    const times: number[] = [];
    for (let round = 0; round < 3; round++) {
      const began = performance.now();
      await using server = await startTestServer({
        faults: true,
        crds: [definition(WIDGETS)],
        users: { alice: { clusterRole: 'cluster-admin' } },
      });
      await server.users.alice.client.resource(WIDGETS).list();
      times.push(performance.now() - began);
    }
    assert.ok(Math.min(...times) < 300, `it took ${times.map(Math.round).join(', ')} ms`);
  });

  test('listens where it is told, with faults too', async () => {
    await using first = await startTestServer({ faults: true });
    const port = Number(new URL(first.url).port);
    await assert.rejects(startTestServer({ faults: true, listen: { host: '127.0.0.1', port } }), {
      code: 'EADDRINUSE',
    });
    await first.stop();
    await using again = await startTestServer({ faults: true, listen: { host: '127.0.0.1', port } });
    assert.equal(again.url, first.url);
    await again.client.resource(CONFIG_MAPS).list();
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CUSTOM_RESOURCE_DEFINITIONS, type KubeObject } from '@asterism/machinery';
import { startTestServer, type TestServer } from '../testing/index.ts';
import { AGGREGATED_CONTENT_TYPE } from './discovery-handler.ts';

async function get({ client }: TestServer, path: string, headers: Record<string, string> = {}) {
  const response = await client.request({ method: 'GET', path, headers: { accept: 'application/json', ...headers } });
  const pieces: Buffer[] = [];
  for await (const piece of response.body) pieces.push(piece as Buffer);
  const text = Buffer.concat(pieces).toString();
  return { ...response, text, json: <T>() => JSON.parse(text) as T };
}

interface Aggregated {
  items: {
    metadata: { name?: string };
    versions: {
      version: string;
      resources: { resource: string; responseKind: object; subresources?: { subresource: string }[] }[];
    }[];
  }[];
}

const WIDGETS = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: {
      plural: 'widgets',
      singular: 'widget',
      kind: 'Widget',
      listKind: 'WidgetList',
      shortNames: ['wd'],
      categories: ['all'],
    },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
          },
        },
        subresources: { status: {} },
      },
    ],
  },
};

async function defineWidgets(server: TestServer): Promise<void> {
  const { status, body } = await server.client.request({
    method: 'POST',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(WIDGETS),
  });
  body.resume();
  assert.equal(status, 201);
  const definitions = server.client.resource<KubeObject>({ ...CUSTOM_RESOURCE_DEFINITIONS });
  for await (const event of definitions.watch({ signal: AbortSignal.timeout(5_000) })) {
    const conditions =
      (event.object.status as { conditions?: { type: string; status: string }[] } | undefined)?.conditions ?? [];
    if (conditions.some(({ type, status: is }) => type === 'Established' && is === 'True')) return;
  }
}

describe('discovery', () => {
  test('aggregated: the core group on /api, all others on /apis, 304 for who knows it', async () => {
    await using server = await startTestServer();
    const accept = `${AGGREGATED_CONTENT_TYPE},application/json`;
    const core = await get(server, '/api', { accept });
    assert.equal(core.headers['content-type'], AGGREGATED_CONTENT_TYPE);
    const [group] = core.json<Aggregated>().items;
    assert.deepEqual([group?.metadata, group?.versions[0]?.version], [{}, 'v1']);
    const pods = group?.versions[0]?.resources.find(({ resource }) => resource === 'pods');
    assert.deepEqual(pods?.responseKind, { group: '', version: '', kind: 'Pod' });
    assert.ok(pods?.subresources?.some(({ subresource }) => subresource === 'status'));
    const others = await get(server, '/apis', { accept });
    assert.ok(others.json<Aggregated>().items.some(({ metadata }) => metadata.name === 'apps'));
    const etag = String(others.headers.etag);
    assert.equal((await get(server, '/apis', { accept, 'if-none-match': etag })).status, 304);
    assert.equal((await get(server, '/apis', { accept, 'if-none-match': '"other"' })).status, 200);
  });

  test('old clients get groups, versions and resources one by one', async () => {
    await using server = await startTestServer();
    assert.deepEqual((await get(server, '/api')).json<{ versions: string[] }>().versions, ['v1']);
    const groups = (await get(server, '/apis')).json<{ groups: { name: string; preferredVersion: object }[] }>().groups;
    const autoscaling = groups.find(({ name }) => name === 'autoscaling');
    assert.deepEqual(autoscaling?.preferredVersion, { groupVersion: 'autoscaling/v2', version: 'v2' });
    const { resources } = (await get(server, '/apis/apps/v1')).json<{
      resources: { name: string; kind: string; group?: string }[];
    }>();
    assert.deepEqual(
      resources.find(({ name }) => name === 'deployments/scale'),
      {
        name: 'deployments/scale',
        singularName: '',
        namespaced: true,
        group: 'autoscaling',
        version: 'v1',
        kind: 'Scale',
        verbs: ['get', 'patch', 'update'],
      },
    );
    assert.equal((await get(server, '/apis/none.example.com')).text, '404 page not found\n');
    assert.equal((await get(server, '/apis/apps/v9')).json<{ reason: string }>().reason, 'NotFound');
  });

  test('a custom resource appears with its definition, changes the ETag, and goes with it', async () => {
    await using server = await startTestServer();
    const accept = AGGREGATED_CONTENT_TYPE;
    const before = await get(server, '/apis', { accept });
    await defineWidgets(server);
    const after = await get(server, '/apis', { accept });
    assert.notEqual(after.headers.etag, before.headers.etag);
    const widgets = after.json<Aggregated>().items.find(({ metadata }) => metadata.name === 'example.com')?.versions[0]
      ?.resources[0];
    assert.deepEqual(widgets?.responseKind, { group: 'example.com', version: 'v1', kind: 'Widget' });
    const definitions = server.client.resource(CUSTOM_RESOURCE_DEFINITIONS);
    await definitions.delete({ name: 'widgets.example.com' });
    const signal = AbortSignal.timeout(5_000);
    while ((await get(server, '/apis/example.com')).status !== 404) signal.throwIfAborted();
  });
});

interface Document {
  paths: Record<
    string,
    Record<
      string,
      {
        parameters?: { name: string }[];
        requestBody?: { content: object };
        'x-kubernetes-group-version-kind'?: object;
      }
    >
  >;
  components: {
    schemas: Record<string, { properties?: Record<string, object>; 'x-kubernetes-group-version-kind'?: object[] }>;
  };
}

describe('OpenAPI v3', () => {
  test('the index names a document for each version, with a hash that it can be kept by', async () => {
    await using server = await startTestServer();
    const { paths } = (await get(server, '/openapi/v3')).json<{
      paths: Record<string, { serverRelativeURL: string }>;
    }>();
    const url = paths['apis/apps/v1']?.serverRelativeURL ?? '';
    assert.match(url, /^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]{64}$/);
    const document = await get(server, url);
    assert.equal(document.headers['cache-control'], 'public, immutable');
    const { etag } = document.headers;
    assert.equal((await get(server, url, { 'if-none-match': String(etag) })).status, 304);
    assert.equal((await get(server, '/openapi/v3/apis/nothing/v1')).status, 404);
    assert.equal((await get(server, '/openapi/v2')).status, 404);
  });

  test('a document has what its paths reach, and every reference leads somewhere', async () => {
    await using server = await startTestServer();
    const apps = await get(server, '/openapi/v3/apis/apps/v1');
    const document = apps.json<Document>();
    const { schemas } = document.components;
    assert.ok('io.k8s.api.apps.v1.Deployment' in schemas && 'io.k8s.api.core.v1.Container' in schemas);
    assert.ok(!('io.k8s.api.batch.v1.Job' in schemas));
    for (const [, name] of apps.text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) assert.ok(name! in schemas, name);
    const item = document.paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}'];
    assert.deepEqual(item?.patch?.['x-kubernetes-group-version-kind'], {
      group: 'apps',
      version: 'v1',
      kind: 'Deployment',
    });
    const parameters = item?.patch?.parameters?.map(({ name }) => name);
    assert.ok(['dryRun', 'fieldValidation', 'force'].every((name) => parameters?.includes(name)));
  });

  test('a custom resource is described by its own schema', async () => {
    await using server = await startTestServer();
    await defineWidgets(server);
    const { components } = (await get(server, '/openapi/v3/apis/example.com/v1')).json<Document>();
    const widget = components.schemas['com.example.v1.Widget'];
    assert.deepEqual(widget?.['x-kubernetes-group-version-kind'], [
      { group: 'example.com', version: 'v1', kind: 'Widget' },
    ]);
    assert.deepEqual(widget?.properties?.spec, { type: 'object', properties: { size: { type: 'integer' } } });
    assert.ok('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' in components.schemas);
    assert.ok('com.example.v1.WidgetList' in components.schemas);
  });

  // `kubectl apply` sends what is offered here, and a custom resource refuses a strategic merge patch.
  for (const [what, url, path, offered] of [
    ['built-in kinds', 'apps/v1', '/apis/apps/v1/namespaces/{namespace}/deployments/{name}', true],
    ['custom resources', 'example.com/v1', '/apis/example.com/v1/namespaces/{namespace}/widgets/{name}', false],
    ['their status', 'example.com/v1', '/apis/example.com/v1/namespaces/{namespace}/widgets/{name}/status', false],
  ] as const) {
    test(`a strategic merge patch ${offered ? 'is' : 'is not'} offered for ${what}`, async () => {
      await using server = await startTestServer();
      await defineWidgets(server);
      const { paths } = (await get(server, `/openapi/v3/apis/${url}`)).json<Document>();
      const content = paths[path]?.patch?.requestBody?.content ?? {};
      assert.equal('application/merge-patch+json' in content, true);
      assert.equal('application/strategic-merge-patch+json' in content, offered);
    });
  }
});

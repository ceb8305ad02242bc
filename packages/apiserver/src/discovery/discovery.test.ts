import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { CUSTOM_RESOURCE_DEFINITIONS, type KubeObject } from '@asterism/machinery';
import { startTestServer, type TestServer } from '../testing/index.ts';

const AGGREGATED_CONTENT_TYPE = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

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

async function defineWidgets(server: TestServer, definition: object = WIDGETS): Promise<void> {
  const { status, body } = await server.client.request({
    method: 'POST',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(definition),
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

  test('it is what a Kubernetes 1.36 server says of its own kinds', async () => {
    const facts = new URL('../../../machinery/data/kubernetes-1.36.json', import.meta.url);
    const { discovery } = JSON.parse(readFileSync(facts, 'utf8')) as { discovery: { api: object[]; apis: object[] } };
    await using server = await startTestServer();
    for (const [path, items] of [
      ['/api', discovery.api],
      ['/apis', discovery.apis],
    ] as const) {
      const answer = await get(server, path, { accept: AGGREGATED_CONTENT_TYPE });
      assert.deepEqual(answer.json<{ items: object[] }>().items, items);
    }
  });

  test('the hash of a custom resource is that of the version in which it is stored', async () => {
    await using server = await startTestServer();
    const [version] = WIDGETS.spec.versions;
    const versions = [
      { ...version, storage: false },
      { ...version, name: 'v1alpha1', storage: true },
    ];
    await defineWidgets(server, { ...WIDGETS, spec: { ...WIDGETS.spec, versions } });
    const { resources } = (await get(server, '/apis/example.com/v1')).json<{
      resources: { storageVersionHash?: string }[];
    }>();
    const stored = createHash('sha256').update('example.com/v1alpha1/Widget').digest().subarray(0, 8);
    assert.equal(resources[0]?.storageVersionHash, stored.toString('base64'));
  });

  for (const [what, path, accept, status, message] of [
    [
      'no media type that is offered',
      '/api/v1',
      'application/xml',
      406,
      /^406: Not Acceptable\n\nAvailable representations: /,
    ],
    [
      'a form that nobody knows',
      '/api',
      'application/json;as=Other;v=v2;g=apidiscovery.k8s.io',
      406,
      /^only the following/,
    ],
    [
      'aggregated discovery of a beta',
      '/apis',
      `${AGGREGATED_CONTENT_TYPE.replace('v=v2', 'v=v2beta1')},application/json`,
      200,
      /^$/,
    ],
  ] as const) {
    test(`who asks for ${what} gets ${status}`, async () => {
      await using server = await startTestServer();
      const answer = await get(server, path, { accept });
      assert.equal(answer.status, status);
      assert.match(answer.json<{ message?: string }>().message ?? '', message);
    });
  }

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

  // Aggregated discovery, which has none of them, is compared whole above.
  for (const [what, legacyVersions, versions, resources] of [
    ['see versions that 1.36 has dropped, last', true, ['v1', 'v1beta1'], ['cronjobs', 'cronjobs/status']],
    ['do not where the server shows none', false, ['v1'], undefined],
  ] as const) {
    test(`old clients ${what}`, async () => {
      await using server = await startTestServer({ legacyVersions });
      const all = (await get(server, '/apis')).json<{ groups: { name: string; versions: { version: string }[] }[] }>();
      const batch = (await get(server, '/apis/batch')).json<{ versions: object[]; preferredVersion: object }>();
      assert.deepEqual(batch.preferredVersion, { groupVersion: 'batch/v1', version: 'v1' });
      const expected = versions.map((version) => ({ groupVersion: `batch/${version}`, version }));
      assert.deepEqual(batch.versions, expected);
      assert.deepEqual(all.groups.find(({ name }) => name === 'batch')?.versions, expected);
      const old = (await get(server, '/apis/batch/v1beta1')).json<{ resources?: { name: string }[] }>();
      assert.deepEqual(
        old.resources?.map(({ name }) => name),
        resources,
      );
      const path = '/apis/batch/v1beta1/namespaces/default/cronjobs';
      assert.equal((await get(server, path)).status, 200);
    });
  }

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

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@asterism/machinery';
import { startTestServer, type TestServer } from '../testing/index.ts';

const ASKED = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const SERVED = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

interface Swagger {
  swagger: string;
  paths: Record<string, Record<string, { operationId?: string; consumes?: string[]; produces?: string[] }>>;
  definitions: Record<string, { properties?: Record<string, object>; 'x-kubernetes-group-version-kind'?: object[] }>;
}

let server: TestServer;
before(async () => (server = await startTestServer()));
after(async () => await server.stop());

async function get(headers: Record<string, string> = {}) {
  const response = await server.client.request({ method: 'GET', path: '/openapi/v2', headers });
  const pieces: Buffer[] = [];
  for await (const piece of response.body) pieces.push(piece as Buffer);
  const body = Buffer.concat(pieces);
  return { ...response, body, document: () => JSON.parse(body.toString()) as Swagger };
}

async function define(group: string): Promise<void> {
  await server.client.resource(CUSTOM_RESOURCE_DEFINITIONS).create({
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', nullable: true } } } },
        },
      ],
    },
  });
}

describe('OpenAPI v2', () => {
  test('every reference leads to a definition, and every definition is reached', async () => {
    const { body, document } = await get();
    const { swagger, definitions } = document();
    assert.equal(swagger, '2.0');
    const named = new Set([...body.toString().matchAll(/"#\/definitions\/([^"]+)"/g)].map(([, name]) => name));
    for (const name of named) assert.ok(Object.hasOwn(definitions, name!), name);
    for (const name of Object.keys(definitions)) assert.ok(named.has(name), name);
    assert.ok(!body.includes('#/components/'));
  });

  test('an operation says what it takes and answers', async () => {
    const { paths } = (await get()).document();
    const item = paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}'];
    assert.equal(item?.['patch']?.operationId, 'patchAppsV1NamespacedDeployment');
    assert.ok(item?.['patch']?.consumes?.includes('application/strategic-merge-patch+json'));
    assert.ok(item?.['get']?.produces?.includes('application/vnd.kubernetes.protobuf'));
    const list = paths['/apis/apps/v1/deployments']?.['get'];
    assert.equal(list?.operationId, 'listAppsV1DeploymentForAllNamespaces');
    assert.ok(list?.produces?.includes('application/vnd.kubernetes.protobuf;stream=watch'));
  });

  for (const [what, accept, status, type] of [
    ['as JSON by default', '*/*', 200, 'application/json'],
    ['as protobuf, under the name that clients ask by', ASKED, 200, SERVED],
    ['as protobuf, under the name that it is served by', SERVED, 200, SERVED],
    ['as the first that is known', `text/html, ${ASKED}, application/json`, 200, SERVED],
    ['as nothing else', 'text/html', 406, undefined],
  ] as const) {
    test(`it is served ${what}`, async () => {
      const { status: answered, headers, body } = await get({ accept });
      assert.deepEqual([answered, headers['content-type']], [status, type]);
      if (type === SERVED) assert.equal(body.toString('latin1', 0, 5), '\n\x032.0');
      if (status === 406) assert.equal(body.length, 0);
    });
  }

  test('who knows it is told so, and JSON is not taken for protobuf', async () => {
    const json = String((await get()).headers['etag']);
    const protobuf = String((await get({ accept: ASKED })).headers['etag']);
    assert.notEqual(json, protobuf);
    assert.equal((await get({ 'if-none-match': json })).status, 304);
    assert.equal((await get({ 'if-none-match': json, accept: ASKED })).status, 200);
  });

  test('it is compressed for who takes that', async () => {
    const { headers, body } = await get({ 'accept-encoding': 'gzip' });
    assert.equal(headers['content-encoding'], 'gzip');
    assert.equal((JSON.parse(gunzipSync(body).toString()) as Swagger).swagger, '2.0');
  });

  test('a custom resource is in it as soon as it is served', async () => {
    const before = String((await get()).headers['etag']);
    await define('one.example.com');
    const signal = AbortSignal.timeout(2_000);
    while ((await get()).headers['etag'] === before) signal.throwIfAborted();
    const { definitions, paths } = (await get()).document();
    const widget = definitions['com.example.one.v1.Widget'];
    assert.deepEqual(widget?.properties?.['spec'], {}, 'a nullable field is left open');
    assert.deepEqual(widget?.properties?.['metadata'], {
      $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
    });
    const item = paths['/apis/one.example.com/v1/namespaces/{namespace}/widgets/{name}'];
    assert.ok(!item?.['patch']?.consumes?.includes('application/strategic-merge-patch+json'));
    assert.deepEqual(item?.['get']?.produces, ['application/json', 'application/yaml']);
  });
});

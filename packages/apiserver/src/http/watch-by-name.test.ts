import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CLUSTER_ROLES, type KubeObject, PODS, ROLE_BINDINGS, ROLES, SECRETS } from '@asterism/machinery';
import { definition } from '../crd/testing/test-widgets.ts';
import type { UserInfo } from '../contract/user-info.ts';
import { startTestServer, type TestServer } from '../testing/index.ts';

const NAMES = ['mine', 'other', 'third'];
const NODE = { username: 'system:node:n1', groups: ['system:nodes'] };
const EVE = { username: 'eve', groups: [] };
const ROOT = { username: 'root', groups: ['system:masters'] };
const SECRET_WATCH = '/api/v1/watch/namespaces/default/secrets';
const WIDGET_WATCH = '/apis/example.com/v1/watch/namespaces/default/widgets';
const WIDGETS = { group: 'example.com', version: 'v1', resource: 'widgets', kind: 'Widget', namespaced: true } as const;

const WIDGET_DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  ...definition({ subresources: { status: {} } }),
};

describe('a name that was authorized is the only name that is read', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer({ crds: [WIDGET_DEFINITION] });
    for (const name of NAMES) {
      const metadata = { namespace: 'default', name };
      await server.inside.resource(SECRETS).create({ metadata, stringData: { k: name } });
      await server.inside.resource(WIDGETS).create({ metadata, spec: { size: 1 } } as KubeObject);
      await server.inside.resource(CLUSTER_ROLES).create({ metadata: { name }, rules: [] });
    }
    const role = { namespace: 'default', name: 'reader' };
    const verbs = ['get', 'list', 'watch', 'deletecollection'];
    await server.inside.resource(ROLES).create({
      metadata: role,
      rules: [
        { apiGroups: [''], resources: ['secrets'], resourceNames: ['mine'], verbs },
        { apiGroups: ['example.com'], resources: ['widgets'], resourceNames: ['mine'], verbs },
      ],
    });
    await server.inside.resource(ROLE_BINDINGS).create({
      metadata: role,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'eve' }],
    });
    await server.inside.resource(PODS).create({
      metadata: { namespace: 'default', name: 'p' },
      spec: {
        nodeName: 'n1',
        containers: [{ name: 'c', image: 'i' }],
        volumes: [{ name: 'v', secret: { secretName: 'mine' } }],
      },
    });
  });
  after(() => server.stop());

  /** The status, and the names in the events of a watch or in a list. */
  async function read(user: UserInfo, path: string, method = 'GET'): Promise<[status: number, names: string[]]> {
    const signal = AbortSignal.timeout(20_000);
    const response = await server.clientAs(user).request({ method, path, signal });
    const pieces: Buffer[] = [];
    for await (const piece of response.body) pieces.push(piece as Buffer);
    const text = Buffer.concat(pieces).toString();
    const names = [...text.matchAll(/"metadata":\{[^{}]*?"name":"([^"]+)"/g)].map(([, name = '']) => name);
    return [response.status, response.status === 200 ? names.sort() : []];
  }

  const streamed: [what: string, user: UserInfo, path: string][] = [
    ['a Role', EVE, `${SECRET_WATCH}/mine?timeoutSeconds=1`],
    ['a Role, with a selector', EVE, `${SECRET_WATCH}/mine?timeoutSeconds=1&fieldSelector=metadata.name%3Dmine`],
    ['a Role, encoded', EVE, '/api/v1/watch/namespaces/default/secrets%2F%6dine?timeoutSeconds=1'],
    [
      'a Role, selector alone',
      EVE,
      '/api/v1/namespaces/default/secrets?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Dmine',
    ],
    ['a Role, list', EVE, '/api/v1/namespaces/default/secrets?fieldSelector=metadata.name%3Dmine'],
    ['a Role, custom resources', EVE, `${WIDGET_WATCH}/mine?timeoutSeconds=1`],
    ['the Node authorizer', NODE, `${SECRET_WATCH}/mine?timeoutSeconds=1`],
    ['a cluster-scoped kind', ROOT, '/apis/rbac.authorization.k8s.io/v1/watch/clusterroles/mine?timeoutSeconds=1'],
  ];
  for (const [what, user, path] of streamed) {
    test(`${what}: ${path}`, async () => {
      assert.deepEqual(await read(user, path), [200, ['mine']]);
    });
  }

  const refused: [status: number, user: UserInfo, path: string, method?: string][] = [
    [400, EVE, `${SECRET_WATCH}/mine?fieldSelector=metadata.name!%3Dmine`],
    [400, EVE, `${SECRET_WATCH}/mine?fieldSelector=metadata.name%3Dother`],
    [400, EVE, `${SECRET_WATCH}/mine?fieldSelector=type%3DOpaque`],
    [400, EVE, `${SECRET_WATCH}/mine?fieldSelector=((`],
    [400, EVE, `${WIDGET_WATCH}/mine?fieldSelector=metadata.name!%3Dmine`],
    [400, NODE, `${SECRET_WATCH}/mine?fieldSelector=metadata.name!%3Dmine`],
    [403, EVE, SECRET_WATCH],
    [403, EVE, `${SECRET_WATCH}?fieldSelector=metadata.name%3Dmine`],
    [403, EVE, `${SECRET_WATCH}/other`],
    [403, NODE, `${SECRET_WATCH}/other`],
    [403, EVE, `${SECRET_WATCH}?fieldSelector=metadata.name!%3Dmine`],
    [403, EVE, '/api/v1/namespaces/default/secrets?fieldSelector=metadata.name%3Dmine', 'DELETE'],
    [403, EVE, '/apis/example.com/v1/namespaces/default/widgets?fieldSelector=metadata.name%3Dmine', 'DELETE'],
    ...['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'].flatMap((method): [number, UserInfo, string, string][] => [
      [405, EVE, `${SECRET_WATCH}/mine`, method],
      [405, ROOT, SECRET_WATCH, method],
      [405, EVE, `${WIDGET_WATCH}/mine`, method],
    ]),
  ];
  for (const [status, user, path, method = 'GET'] of refused) {
    test(`${user.username}: ${method} ${path} is ${status}`, async () => {
      assert.deepEqual(await read(user, path, method), [status, []]);
    });
  }
});

test('an extension answers a list in its own way, so a selector is no name for authorization', async () => {
  const answer = { status: 200, headers: {}, body: Buffer.from('everything') };
  const handle = () => Promise.resolve(answer);
  const things = { resource: 'things', singular: 'thing', kind: 'Thing', namespaced: false, verbs: ['get', 'list'] };
  const extension = {
    group: 'ext.test',
    version: 'v1',
    resources: [{ ...things, authorization: 'rbac' as const, handle }],
  };
  const verbs = ['get', 'list', 'watch'];
  await using server = await startTestServer({
    controllers: false,
    extensions: [extension],
    users: { eve: { rules: [{ apiGroups: ['ext.test'], resources: ['things'], resourceNames: ['mine'], verbs }] } },
  });
  const root = '/apis/ext.test/v1/things';
  const rows: [path: string, status: number][] = [
    [`${root}/mine`, 200],
    [`${root}/other`, 403],
    [`${root}?fieldSelector=metadata.name%3Dmine`, 403],
    [`${root}?watch=1&fieldSelector=metadata.name%3Dmine`, 403],
  ];
  for (const [path, status] of rows) {
    const response = await server.users.eve.client.request({ method: 'GET', path });
    response.body.resume();
    assert.equal(response.status, status, path);
  }
});

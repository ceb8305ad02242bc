import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject, ResourceType } from '@asterism/machinery';
import type { Client } from './client.ts';
import { scripted } from './testing/scripted-transport.ts';

const PODS: ResourceType = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };
const NODES: ResourceType = { group: '', version: 'v1', resource: 'nodes', kind: 'Node', namespaced: false };
const SETS: ResourceType = { group: 'apps', version: 'v1', resource: 'sets', kind: 'Set', namespaced: true };
const pod: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'n' } };

describe('what is asked for', () => {
  const options = { dryRun: true, fieldManager: 'me', fieldValidation: 'Strict' } as const;
  const cases: [name: string, act: (client: Client) => Promise<unknown>, request: string, body?: unknown][] = [
    ['get', (c) => c.resource(PODS).get({ namespace: 'n', name: 'a' }), 'GET /api/v1/namespaces/n/pods/a'],
    ['get of a cluster', (c) => c.resource(NODES).get({ name: 'a' }), 'GET /api/v1/nodes/a'],
    [
      'get of a subresource',
      (c) => c.resource(SETS).get({ namespace: 'n', name: 'a' }, { subresource: 'scale', resourceVersion: '0' }),
      'GET /apis/apps/v1/namespaces/n/sets/a/scale?resourceVersion=0',
    ],
    ['list', (c) => c.resource(PODS).list(), 'GET /api/v1/pods'],
    [
      'list with everything',
      (c) =>
        c.resource(PODS).list({
          namespace: 'n',
          labelSelector: 'a in (b,c)',
          fieldSelector: 'x!=y',
          limit: 5,
          continue: 't',
          resourceVersion: '7',
          resourceVersionMatch: 'Exact',
        }),
      'GET /api/v1/namespaces/n/pods?labelSelector=a+in+%28b%2Cc%29&fieldSelector=x%21%3Dy&limit=5&continue=t&resourceVersion=7&resourceVersionMatch=Exact',
    ],
    [
      'create',
      (c) => c.resource(PODS).create(pod, options),
      'POST /api/v1/namespaces/n/pods?dryRun=All&fieldManager=me&fieldValidation=Strict',
      pod,
    ],
    [
      'create of what does not say what it is',
      (c) => c.resource(SETS).create({ kind: undefined, metadata: pod.metadata } as KubeObject),
      'POST /apis/apps/v1/namespaces/n/sets',
      { apiVersion: 'apps/v1', kind: 'Set', metadata: pod.metadata },
    ],
    [
      'update of what does not say what it is',
      (c) => c.resource(SETS).update({ metadata: pod.metadata }, { subresource: 'status' }),
      'PUT /apis/apps/v1/namespaces/n/sets/a/status',
      { apiVersion: 'apps/v1', kind: 'Set', metadata: pod.metadata },
    ],
    [
      'update of a subresource of another kind',
      (c) => c.resource(SETS).update({ metadata: pod.metadata }, { subresource: 'scale' }),
      'PUT /apis/apps/v1/namespaces/n/sets/a/scale',
      { metadata: pod.metadata },
    ],
    [
      'create of a subresource',
      (c) => c.resource(PODS).create({ kind: 'Eviction' }, { namespace: 'n', name: 'a', subresource: 'eviction' }),
      'POST /api/v1/namespaces/n/pods/a/eviction',
      { kind: 'Eviction' },
    ],
    ['update', (c) => c.resource(PODS).update(pod), 'PUT /api/v1/namespaces/n/pods/a', pod],
    [
      'update of the status',
      (c) => c.resource(PODS).update(pod, { subresource: 'status' }),
      'PUT /api/v1/namespaces/n/pods/a/status',
      pod,
    ],
    [
      'delete',
      (c) => c.resource(PODS).delete({ namespace: 'n', name: 'a' }),
      'DELETE /api/v1/namespaces/n/pods/a',
      { kind: 'DeleteOptions', apiVersion: 'v1' },
    ],
    [
      'delete with everything',
      (c) =>
        c
          .resource(PODS)
          .delete(
            { namespace: 'n', name: 'a' },
            { propagationPolicy: 'Orphan', gracePeriodSeconds: 0, preconditions: { uid: 'u' }, dryRun: true },
          ),
      'DELETE /api/v1/namespaces/n/pods/a',
      {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        propagationPolicy: 'Orphan',
        gracePeriodSeconds: 0,
        preconditions: { uid: 'u' },
        dryRun: ['All'],
      },
    ],
    [
      'delete of a collection',
      (c) => c.resource(PODS).deleteCollection({ namespace: 'n', labelSelector: 'a=b' }),
      'DELETE /api/v1/namespaces/n/pods?labelSelector=a%3Db',
      { kind: 'DeleteOptions', apiVersion: 'v1' },
    ],
    ['any path', (c) => c.getJson('/openapi/v3'), 'GET /openapi/v3'],
    ['version', (c) => c.version(), 'GET /version'],
  ];
  for (const [name, act, expected, body] of cases) {
    test(name, async () => {
      const { requests, client } = scripted({ body: '{"items":[]}' });
      await act(client());
      const [request] = requests;
      assert.equal(`${request?.method} ${request?.path}`, expected);
      assert.deepEqual(request?.body === undefined ? undefined : JSON.parse(request.body as string), body);
      assert.equal(request?.headers?.['accept'], 'application/json');
      if (body) assert.equal(request?.headers?.['content-type'], 'application/json');
    });
  }

  const patches = [
    ['json', 'application/json-patch+json', ''],
    ['merge', 'application/merge-patch+json', ''],
    ['strategic', 'application/strategic-merge-patch+json', ''],
    ['apply', 'application/apply-patch+yaml', '&force=true'],
  ] as const;
  for (const [type, contentType, force] of patches) {
    test(`patch: ${type}`, async () => {
      const { requests, client } = scripted({});
      const ref = { namespace: 'n', name: 'a' };
      await client({ fieldManager: 'me' })
        .resource(PODS)
        .patch(ref, { type, body: [1] }, { force: true });
      assert.equal(requests[0]?.path, `/api/v1/namespaces/n/pods/a?fieldManager=me${force}`);
      assert.equal(requests[0]?.headers?.['content-type'], contentType);
      assert.equal(requests[0]?.body, '[1]');
    });
  }

  test('what would address something else is refused before it is sent', async () => {
    const { requests, client } = scripted({});
    const [pods, nodes] = [client().resource(PODS), client().resource(NODES)];
    const cases: [Promise<unknown>, RegExp][] = [
      [pods.delete({ namespace: 'n', name: '' }), /pods: address: the object has no name/],
      [pods.get({ name: 'a' }), /pods: "a": it lives in a namespace, and none is given/],
      [pods.create({ metadata: { name: 'a' } }), /pods: create: it lives in a namespace/],
      [pods.deleteCollection(), /pods: delete all of: it lives in a namespace/],
      [nodes.get({ namespace: 'n', name: 'a' }), /nodes: namespace "n": it does not live in namespaces/],
      [nodes.list({ namespace: 'n' }), /it does not live in namespaces/],
      [pods.create(pod, { subresource: 'eviction' }), /a subresource needs the name/],
      [pods.patch({ namespace: 'n', name: 'a' }, { type: 'apply', body: pod }), /it needs a fieldManager/],
    ];
    for (const [promise, message] of cases) await assert.rejects(promise, { name: 'ClientError', message });
    assert.equal(requests.length, 0);
  });
});

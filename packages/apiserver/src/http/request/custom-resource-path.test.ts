import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isStatusError } from '@asterism/machinery';
import { openTestRegistry, type TestRegistry } from '../../compose/testing/test-registry.ts';
import { refuseCustomPath } from './custom-resource-path.ts';
import { findResource } from './find-resource.ts';
import { requestInfo } from '../../contract/request-info.ts';

const SCHEMA = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };

async function openWidgets(): Promise<TestRegistry> {
  const t = await openTestRegistry();
  const served = Promise.withResolvers<void>();
  t.registry.onChange(() => {
    if (t.registry.find('a.b', 'v1', 'widgets')) served.resolve();
  });
  const versions = [{ name: 'v1', served: true, storage: true, schema: SCHEMA, subresources: { status: {} } }];
  const names = { plural: 'widgets', kind: 'Widget' };
  await t.create('apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'widgets.a.b' },
    spec: { group: 'a.b', scope: 'Namespaced', names, versions },
  });
  await served.promise;
  return t;
}

describe('a path', () => {
  const rows: [request: string, answer: string][] = [
    ['GET /apis/a.b/v1/namespaces/default/widgets/w', 'goes on'],
    ['GET /apis/a.b/v1/widgets', 'goes on'],
    ['GET /apis/a.b/v1/widgets/w', '404 page'],
    ['GET /apis/a.b/v2/namespaces/default/widgets', '404 page'],
    ['GET /apis/a.b/v1/namespaces/default/others', '404 page'],
    ['GET /apis/none.example.com/v1/widgets', '404 page'],
    ['GET /apis/apps/v1/nope', 'goes on'],
    ['GET /apis/a.b/v1/namespaces/default/widgets/w/scale', '404 widgets.a.b "w" not found'],
    [
      'DELETE /apis/a.b/v1/namespaces/default/widgets/w/status',
      '405 delete is not supported on resources of kind "widgets.a.b"',
    ],
  ];
  test('of a custom resource that leads nowhere is answered as upstream does', async () => {
    await using t = await openWidgets();
    for (const [request, expected] of rows) {
      const [method = '', path = ''] = request.split(' ');
      const info = requestInfo(method, path, new URLSearchParams());
      let answer: string;
      try {
        const refusal = refuseCustomPath(t.registry, info, findResource(t.registry, info));
        answer = refusal ? `${refusal.status} page` : 'goes on';
      } catch (error) {
        assert.ok(isStatusError(error));
        answer = `${error.code} ${error.message}`;
      }
      assert.equal(answer, expected, request);
    }
  });
});

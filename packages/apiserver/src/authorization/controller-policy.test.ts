import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startTestServer } from '../testing/index.ts';

describe('controllers may do their work under their own accounts', () => {
  for (const [controller, method, path, allowed] of [
    ['deployment-controller', 'POST', '/apis/apps/v1/namespaces/default/replicasets', true],
    ['deployment-controller', 'POST', '/api/v1/namespaces/default/pods', false],
    ['replicaset-controller', 'POST', '/api/v1/namespaces/default/pods', true],
    ['generic-garbage-collector', 'PATCH', '/api/v1/namespaces/default/secrets/x', true],
    ['generic-garbage-collector', 'POST', '/api/v1/namespaces/default/secrets', false],
    ['token-cleaner', 'GET', '/api/v1/namespaces/kube-system/secrets', true],
    ['token-cleaner', 'GET', '/api/v1/namespaces/default/secrets', false],
    ['bootstrap-signer', 'GET', '/api/v1/namespaces/kube-public/configmaps', true],
    ['nobody', 'GET', '/api/v1/namespaces/default/pods', false],
  ] as const) {
    test(`${controller}: ${method} ${path} is ${allowed ? 'allowed' : 'forbidden'}`, async () => {
      await using server = await startTestServer({
        controllers: false,
        admissionPlugins: { disable: ['ServiceAccount'] },
      });
      const username = `system:serviceaccount:kube-system:${controller}`;
      const client = server.clientAs({ username, groups: ['system:serviceaccounts'] });
      const headers = { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' };
      const body = method === 'GET' ? {} : { headers, body: '{}' };
      const response = await client.request({ method, path, ...body });
      response.body.resume();
      assert.equal(response.status === 403, !allowed, String(response.status));
    });
  }
});

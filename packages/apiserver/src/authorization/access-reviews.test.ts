import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Client } from '@asterism/client';
import type { KubeObject } from '@asterism/machinery';
import { startTestServer } from '../testing/index.ts';
import type { PolicyRule } from './policy-rule.ts';
import { alice, grant } from './testing/grant.ts';
import { post, review } from './testing/post-review.ts';

describe('reviews', () => {
  const pods = { verb: 'get', resource: 'pods', namespace: 'default' };

  test('a SelfSubjectAccessReview has no metadata', async () => {
    await using server = await startTestServer({ controllers: false });
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    for (const metadata of [{ name: 'x' }, { namespace: 'default' }, { labels: { a: 'b' } }]) {
      const { status, body } = await post(server.client, path, {
        kind: 'SelfSubjectAccessReview',
        apiVersion: 'authorization.k8s.io/v1',
        metadata,
        spec: { resourceAttributes: pods },
      });
      assert.equal(status, 422);
      assert.match(body.message ?? '', /metadata: Invalid value: .*: must be empty/);
    }
  });

  test('SelfSubjectAccessReview answers for the caller, with the reason', async () => {
    await using server = await startTestServer();
    await grant(server.client, 'pods', [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]);
    const ask = (attributes: object) =>
      review(server.clientAs(alice), 'selfsubjectaccessreviews', 'SelfSubjectAccessReview', attributes);
    assert.deepEqual(await ask({ resourceAttributes: pods }), {
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "pods/default" of Role "pods" to User "alice"',
    });
    assert.deepEqual(await ask({ resourceAttributes: { ...pods, verb: 'delete' } }), { allowed: false });
    assert.equal((await ask({ nonResourceAttributes: { verb: 'get', path: '/version' } })).allowed, true);
    assert.equal((await ask({})).code, 422);
  });

  test('SubjectAccessReview answers for others, to those who may ask', async () => {
    await using server = await startTestServer();
    const spec = { user: 'x', groups: ['system:masters'], resourceAttributes: pods };
    const ask = (client: Client, change: object = {}) =>
      review(client, 'subjectaccessreviews', 'SubjectAccessReview', { ...spec, ...change });
    assert.deepEqual(await ask(server.client), { allowed: true });
    assert.deepEqual(await ask(server.client, { groups: [] }), { allowed: false });
    assert.equal((await ask(server.client, { user: '', groups: [] })).code, 422);
    assert.equal((await ask(server.clientAs(alice))).code, 403);
  });

  test('reviews have no names, and those of a namespace stay in it', async () => {
    await using server = await startTestServer();
    const spec = { user: 'x', resourceAttributes: pods };
    const path = (resource: string): string => `/apis/authorization.k8s.io/v1/${resource}`;
    const local = path('namespaces/default/localsubjectaccessreviews');
    const elsewhere = { ...spec, resourceAttributes: { ...pods, namespace: 'other' } };
    const url = { user: 'x', nonResourceAttributes: { path: '/x', verb: 'get' } };
    const rows: [string, object, number, RegExp?][] = [
      [path('subjectaccessreviews'), { spec }, 201],
      [
        path('subjectaccessreviews'),
        { spec, metadata: { name: 'x' } },
        422,
        /metadata: Invalid value: .*: must be empty$/,
      ],
      [local, { spec }, 201],
      [local, { spec, metadata: { namespace: 'default' } }, 201],
      [
        local,
        { spec, metadata: { name: 'x' } },
        422,
        /metadata: Invalid value: .*: must be empty except for namespace$/,
      ],
      [local, { spec: elsewhere }, 422, /namespace: Invalid value: "other": must match metadata.namespace$/],
      [local, { spec: url }, 422, /nonResourceAttributes: Invalid value: .*: disallowed on this kind of request$/],
    ];
    for (const [to, body, status, message] of rows) {
      const answer = await post(server.client, to, body);
      assert.equal(answer.status, status, JSON.stringify(body));
      if (message) assert.match(String(answer.body.message), message);
    }
  });

  test('what is not set owns nothing, and an answer without what was posted has no owners', async () => {
    await using server = await startTestServer();
    const spec = { user: 'x', resourceAttributes: { ...pods, group: '' } };
    const { body } = await post(server.client, '/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec });
    const metadata = body.metadata as KubeObject['metadata'];
    assert.deepEqual(metadata?.managedFields?.[0]?.fieldsV1, {
      'f:spec': {
        'f:resourceAttributes': { '.': {}, 'f:namespace': {}, 'f:resource': {}, 'f:verb': {} },
        'f:user': {},
      },
    });
    const rules = await post(server.client, '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {
      spec: { namespace: 'default' },
    });
    assert.deepEqual([rules.body.metadata, rules.body.spec], [{}, {}]);
  });

  test('SelfSubjectRulesReview lists what holds in a namespace', async () => {
    await using server = await startTestServer();
    const rule = { apiGroups: [''], resources: ['pods'], verbs: ['get'] };
    await grant(server.client, 'pods', [rule]);
    const spec = { namespace: 'default' };
    const status = await review(server.clientAs(alice), 'selfsubjectrulesreviews', 'SelfSubjectRulesReview', spec);
    assert.ok((status.resourceRules as PolicyRule[]).some((each) => JSON.stringify(each.resources) === '["pods"]'));
    assert.ok((status.nonResourceRules as PolicyRule[]).some((each) => each.nonResourceURLs?.includes('/version')));
    assert.equal(status.incomplete, false);
  });
});

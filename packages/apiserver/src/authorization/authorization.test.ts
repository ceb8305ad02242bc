import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Client } from '@asterism/client';
import { until } from '@asterism/client/testing';
import {
  CERTIFICATE_SIGNING_REQUESTS,
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  type ClusterRole,
  CONFIG_MAPS,
  type KubeObject,
  LEASES,
  ROLE_BINDINGS,
  ROLES,
  SECRETS,
} from '@asterism/machinery';
import { createSigningRequest } from '../pki/index.ts';
import { startTestServer } from '../testing/index.ts';
import { aggregateRules } from './aggregate-cluster-roles.ts';
import { defaultBindings, defaultRoles, parseRules } from './default-policy.ts';
import type { PolicyRule } from './policy-rule.ts';

const alice = { username: 'alice', groups: ['devs'] };
const RBAC = 'rbac.authorization.k8s.io';
const roleRules = [
  { apiGroups: [RBAC], resources: ['roles', 'rolebindings'], verbs: ['create', 'update', 'patch', 'get'] },
];

/** A role and its binding in `default`, for alice. */
async function grant(client: Client, name: string, rules: PolicyRule[]): Promise<void> {
  const metadata = { name, namespace: 'default' };
  await client.resource(ROLES).create({ metadata, rules });
  await client.resource(ROLE_BINDINGS).create({ metadata, ...bindingTo(name) });
}

function bindingTo(role: string, kind = 'Role', user = 'alice') {
  return { roleRef: { apiGroup: RBAC, kind, name: role }, subjects: [{ apiGroup: RBAC, kind: 'User', name: user }] };
}

/** An object, or a Status. */
type Answered = Omit<KubeObject, 'status'> & { status?: unknown; message?: string; details?: object };

async function post(client: Client, path: string, body: object): Promise<{ status: number; body: Answered }> {
  const response = await client.request({
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const pieces: Buffer[] = [];
  for await (const piece of response.body) pieces.push(piece as Buffer);
  return {
    status: response.status,
    body: JSON.parse(Buffer.concat(pieces).toString()) as Answered,
  };
}

async function review(client: Client, path: string, kind: string, spec: object): Promise<Record<string, unknown>> {
  const object = { kind, apiVersion: 'authorization.k8s.io/v1', spec };
  const { status, body } = await post(client, `/apis/authorization.k8s.io/v1/${path}`, object);
  return status === 201 ? (body.status as Record<string, unknown>) : { code: status, message: body.message };
}

describe('RBAC', () => {
  test('who may change and not create makes nothing, be it by an apply or by a PUT', async () => {
    await using server = await startTestServer();
    const client = server.clientAs(alice);
    const verbs = ['get', 'patch', 'update'];
    await grant(server.client, 'editor', [
      { apiGroups: ['', 'coordination.k8s.io'], resources: ['configmaps', 'leases'], verbs },
    ]);
    const metadata = { name: 'new', namespace: 'default' };
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    const apply = () => client.resource(CONFIG_MAPS).apply(map, { fieldManager: 'x' });
    await assert.rejects(apply(), { code: 403, message: /User "alice" cannot create resource "configmaps"/ });
    const lease = { metadata: { ...metadata, resourceVersion: '1' }, spec: {} };
    await assert.rejects(client.resource(LEASES).update(lease), {
      code: 403,
      message: /cannot create resource "leases"/,
    });
    await server.client.resource(CONFIG_MAPS).create(map);
    await apply();
  });

  test('a grant holds at once, for what it names, and ends at once', async () => {
    await using server = await startTestServer();
    const mine = server.clientAs(alice).resource(CONFIG_MAPS);
    const ref = { namespace: 'default', name: 'kube-root-ca.crt' };
    await assert.rejects(mine.list({ namespace: 'default' }), {
      message:
        'configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group "" in the namespace "default"',
    });
    await grant(server.client, 'reader', [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }]);
    await mine.list({ namespace: 'default' });
    await assert.rejects(mine.get(ref), { code: 403 });
    await assert.rejects(mine.list(), { code: 403 });
    await server.client.resource(ROLE_BINDINGS).delete({ namespace: 'default', name: 'reader' });
    await assert.rejects(mine.list({ namespace: 'default' }), { code: 403 });
  });

  test('a name in a rule shuts out every other name', async () => {
    await using server = await startTestServer();
    const names = { apiGroups: [''], resources: ['secrets'], resourceNames: ['mine'], verbs: ['get', 'list', 'watch'] };
    await grant(server.client, 'one', [names]);
    for (const name of ['mine', 'other']) {
      await server.client.resource(SECRETS).create({ metadata: { name, namespace: 'default' } });
    }
    const secrets = server.clientAs(alice).resource(SECRETS);
    await secrets.get({ namespace: 'default', name: 'mine' });
    await secrets.list({ namespace: 'default', fieldSelector: 'metadata.name=mine' });
    await assert.rejects(secrets.get({ namespace: 'default', name: 'other' }), { code: 403 });
    await assert.rejects(secrets.list({ namespace: 'default' }), { code: 403 });
    await assert.rejects(secrets.list({ namespace: 'default', fieldSelector: 'metadata.name!=x' }), { code: 403 });
  });

  test('AlwaysAllow lets everybody do everything', async () => {
    await using server = await startTestServer({ authorization: 'AlwaysAllow' });
    await server.clientAs(alice).resource(CONFIG_MAPS).list();
  });
});

describe('escalation', () => {
  test('nobody writes a role with more than he has, nor widens one', async () => {
    await using server = await startTestServer();
    await grant(server.client, 'roles', roleRules);
    const roles = server.clientAs(alice).resource(ROLES);
    const metadata = { name: 'mine', namespace: 'default' };
    const secrets = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }];
    await assert.rejects(roles.create({ metadata, rules: secrets }), {
      code: 403,
      message:
        'roles.rbac.authorization.k8s.io "mine" is forbidden: user "alice" (groups=["devs" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}',
    });
    await roles.create({ metadata, rules: roleRules });
    const ref = { namespace: 'default', name: 'mine' };
    await roles.patch(ref, { type: 'merge', body: { metadata: { labels: { a: 'b' } } } });
    await assert.rejects(roles.patch(ref, { type: 'merge', body: { rules: secrets } }), { code: 403 });
    await assert.rejects(roles.apply({ metadata, rules: secrets }, { fieldManager: 'x', force: true }), { code: 403 });
  });

  test('nobody binds a role that gives more than he has, unless he may bind it', async () => {
    await using server = await startTestServer();
    await grant(server.client, 'roles', roleRules);
    const bindings = server.clientAs(alice).resource(ROLE_BINDINGS);
    const metadata = { name: 'climb', namespace: 'default' };
    const climb = { metadata, ...bindingTo('cluster-admin', 'ClusterRole') };
    await assert.rejects(bindings.create(climb), { code: 403, message: /not currently held/ });
    await assert.rejects(bindings.create({ metadata, ...bindingTo('nothing') }), { code: 404 });
    const mayBind = { apiGroups: [RBAC], resources: ['clusterroles'], resourceNames: ['view'], verbs: ['bind'] };
    await grant(server.client, 'binder', [mayBind]);
    await bindings.create({ metadata, ...bindingTo('view', 'ClusterRole') });
    await assert.rejects(bindings.create({ ...climb, metadata: { ...metadata, name: 'again' } }), { code: 403 });
  });

  test('`escalate` lets one write what he does not have', async () => {
    await using server = await startTestServer();
    const escalate = { apiGroups: [RBAC], resources: ['roles'], verbs: ['create', 'escalate'] };
    await grant(server.client, 'escalator', [escalate]);
    const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
    await server
      .clientAs(alice)
      .resource(ROLES)
      .create({ metadata: { name: 'all', namespace: 'default' }, rules });
  });
});

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

  test('who may not sign is refused what is a certificate, and what is none is refused everybody', async () => {
    await using server = await startTestServer();
    const apiGroups = ['certificates.k8s.io'];
    const rules = [{ apiGroups, resources: ['certificatesigningrequests/status'], verbs: ['patch'] }];
    await server.client.resource<ClusterRole>(CLUSTER_ROLES).create({ metadata: { name: 'writer' }, rules });
    await server.client.resource(CLUSTER_ROLE_BINDINGS).create({
      metadata: { name: 'writer' },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'writer' },
      subjects: [{ apiGroup: RBAC, kind: 'User', name: 'alice' }],
    });
    const { csr } = await createSigningRequest({ commonName: 'x' });
    const requests = server.client.resource(CERTIFICATE_SIGNING_REQUESTS);
    await requests.create({
      metadata: { name: 'x' },
      spec: {
        request: Buffer.from(csr).toString('base64'),
        signerName: 'example.com/other',
        usages: ['client auth'],
      },
    });
    const put = async (certificate: string): Promise<unknown> => {
      const body = { status: { certificate: Buffer.from(certificate).toString('base64') } };
      const theirs = server.clientAs(alice).resource(CERTIFICATE_SIGNING_REQUESTS);
      return await theirs.patch({ name: 'x' }, { type: 'merge', body }, { subresource: 'status' });
    };
    await assert.rejects(put('nonsense'), { code: 422 });
    await assert.rejects(put(server.ca.cert), { code: 403, message: /signerName "example.com\/other"/ });
  });

  test('a binding to a role that is not there is told of the role', async () => {
    await using server = await startTestServer();
    await grant(server.client, 'binder', [{ apiGroups: [RBAC], resources: ['rolebindings'], verbs: ['create'] }]);
    const roleRef = { apiGroup: RBAC, kind: 'Role', name: 'absent' };
    const answer = await post(server.clientAs(alice), `/apis/${RBAC}/v1/namespaces/default/rolebindings`, {
      apiVersion: `${RBAC}/v1`,
      kind: 'RoleBinding',
      metadata: { name: 'x' },
      roleRef,
    });
    assert.equal(answer.status, 404);
    assert.deepEqual(answer.body.details, { name: 'absent', group: RBAC, kind: 'roles' });
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

describe('default roles', () => {
  const role = (name: string, labels: Record<string, string>, rules: PolicyRule[], more: object = {}): KubeObject => ({
    metadata: { name, labels },
    rules,
    ...more,
  });

  test('an aggregated role is the sum of what its selectors pick, each rule once', () => {
    const [read, write] = [parseRules('get | core | pods'), parseRules('delete | core | pods')];
    const sum = role('sum', {}, [], { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { to: 'sum' } }] } });
    const roles = [
      sum,
      role('b', { to: 'sum' }, [...write, ...read]),
      role('a', { to: 'sum' }, read),
      role('c', {}, write),
    ];
    assert.deepEqual(aggregateRules(sum, roles), [...read, ...write]);
    assert.equal(aggregateRules(roles[3]!, roles), undefined);
  });

  test('view, edit and admin are each more than the last, and follow what is labelled for them', async () => {
    await using server = await startTestServer();
    const roles = server.client.resource<ClusterRole>(CLUSTER_ROLES);
    const count = async (name: string) => (await roles.get({ name })).rules?.length ?? 0;
    await until(async () =>
      assert.ok((await count('view')) < (await count('edit')) && (await count('edit')) < (await count('admin'))),
    );
    const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
    const rules = [{ apiGroups: ['example.com'], resources: ['things'], verbs: ['get'] }];
    await roles.create({ metadata: { name: 'things', labels }, rules });
    await until(async () =>
      assert.ok(
        (await roles.get({ name: 'admin' })).rules?.some(({ apiGroups }) => apiGroups?.includes('example.com')),
      ),
    );
  });

  test('what was taken from a default role is given back at the next start, what was added stays', async () => {
    const { createMemoryStorage } = await import('../storage/memory-storage.ts');
    const { reconcileDefaultPolicy } = await import('./reconcile-default-policy.ts');
    const { createRegistry } = await import('../compose/create-registry.ts');
    await using registry = await createRegistry({ storage: createMemoryStorage() });
    const user = { username: 'test', groups: ['system:masters'] };
    const find = (type: { group: string; version: string; resource: string }) =>
      registry.find(type.group, type.version, type.resource)!;
    for (const name of ['kube-public', 'kube-system']) {
      const namespace = { kind: 'Namespace', apiVersion: 'v1', metadata: { name } };
      await registry.create(find({ group: '', version: 'v1', resource: 'namespaces' }), namespace, { user });
    }
    await reconcileDefaultPolicy(registry, user);
    const ref = { name: 'system:discovery' };
    const discovery = (await registry.get(find(CLUSTER_ROLES), ref)).parse();
    const added = { verbs: ['get'], nonResourceURLs: ['/mine'] };
    await registry.update(find(CLUSTER_ROLES), ref, { ...discovery, rules: [added] }, { ...ref, user });
    await registry.delete(find(CLUSTER_ROLE_BINDINGS), ref, {}, { ...ref, user });
    const before = registry.resourceVersion;
    await reconcileDefaultPolicy(registry, user);
    const restored = (await registry.get(find(CLUSTER_ROLES), ref)).parse() as { rules: PolicyRule[] };
    const urls = restored.rules.flatMap(({ nonResourceURLs = [] }) => nonResourceURLs);
    assert.ok(urls.includes('/mine') && urls.includes('/apis/*'));
    await registry.get(find(CLUSTER_ROLE_BINDINGS), ref);
    assert.notEqual(registry.resourceVersion, before);
    const settled = registry.resourceVersion;
    await reconcileDefaultPolicy(registry, user);
    assert.equal(registry.resourceVersion, settled, 'a second pass changes nothing');
  });

  test('every default binding names a default role', () => {
    const names = new Set(defaultRoles().map(({ name, namespace }) => `${namespace}/${name}`));
    for (const { role: ref, namespace } of defaultBindings()) {
      assert.ok(names.has(`${ref.kind === 'ClusterRole' ? '' : namespace}/${ref.name}`), ref.name);
    }
  });
});

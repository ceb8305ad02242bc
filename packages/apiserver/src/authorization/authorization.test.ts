import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CONFIG_MAPS, LEASES, ROLE_BINDINGS, ROLES, SECRETS } from '@asterism/machinery';
import { startTestServer } from '../testing/index.ts';
import { alice, bindingTo, grant, RBAC, roleRules } from './testing/grant.ts';
import { post } from './testing/post-review.ts';

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
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, type ClusterRole, type KubeObject } from '@asterism/machinery';
import { startTestServer } from '../testing/index.ts';
import { aggregateRules } from './aggregate-cluster-roles.ts';
import { defaultBindings, defaultRoles, parseRules } from './default-policy.ts';
import type { PolicyRule } from './policy-rule.ts';

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
    await eventually(async () =>
      assert.ok((await count('view')) < (await count('edit')) && (await count('edit')) < (await count('admin'))),
    );
    const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
    const rules = [{ apiGroups: ['example.com'], resources: ['things'], verbs: ['get'] }];
    await roles.create({ metadata: { name: 'things', labels }, rules });
    await eventually(async () =>
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

async function eventually(check: () => Promise<void>): Promise<void> {
  for (let left = 200; ; left--) {
    try {
      await check();
      return;
    } catch (error) {
      if (left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

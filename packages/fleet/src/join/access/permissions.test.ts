import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterRole, KubeObject, PolicyRule } from '@asterism/machinery';
import { directManifests, memberManifests } from './member-manifests.ts';
import {
  type Permissions,
  permissionAnnotations,
  permittedNamespaces,
  PERMISSION_PROFILES,
  readPermissions,
} from './permissions.ts';

const rolesOf = (objects: readonly KubeObject[]): ClusterRole[] =>
  objects.filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role') as ClusterRole[];

/** Every rule that the acting account gets, of all roles. */
function rulesOf(objects: readonly KubeObject[]): PolicyRule[] {
  return rolesOf(objects).flatMap(({ rules }) => rules ?? []);
}

const FORBIDDEN_VERBS = ['*', 'escalate', 'bind', 'impersonate', 'approve', 'sign', 'deletecollection'];

describe('the profile workloads', () => {
  const permissions: Permissions = {
    profile: 'workloads',
    namespaces: ['shop', 'kube-system', 'asterism-system', 'kube-node-lease'],
  };
  for (const [mode, objects] of [
    ['Pull', memberManifests({ syncMode: 'Pull', permissions })],
    ['Dual', memberManifests({ syncMode: 'Dual', permissions })],
    ['Push', memberManifests({ syncMode: 'Push', permissions })],
    ['without an agent', directManifests(permissions)],
  ] as const) {
    test(`${mode}: no wildcard, no subresource but the token of the own account, no verb beyond reading and writing`, () => {
      for (const rule of rulesOf(objects)) {
        for (const verb of rule.verbs) assert.ok(!FORBIDDEN_VERBS.includes(verb), JSON.stringify(rule));
        for (const word of [...(rule.apiGroups ?? []), ...(rule.resources ?? [])]) assert.notEqual(word, '*');
        const subresources = (rule.resources ?? []).filter((resource) => resource.includes('/'));
        if (subresources.length === 0) continue;
        assert.deepEqual([subresources, rule.resourceNames], [['serviceaccounts/token'], ['asterism-hub']]);
      }
    });

    test(`${mode}: Secrets are not in any rule for the whole cluster`, () => {
      const bound = objects.filter(({ kind }) => kind === 'ClusterRoleBinding') as { roleRef?: { name: string } }[];
      const names = bound.map(({ roleRef }) => roleRef?.name);
      const whole = rolesOf(objects).filter(
        ({ kind, metadata }) => kind === 'ClusterRole' && names.includes(metadata?.name),
      );
      assert.ok(whole.length >= 2);
      for (const { rules = [] } of whole) {
        for (const { resources = [] } of rules) assert.ok(!resources.includes('secrets'));
      }
    });

    test(`${mode}: namespaces of the system are never bound`, () => {
      const bindings = objects.filter(
        ({ kind, metadata }) => kind === 'RoleBinding' && metadata?.name === 'asterism:workloads',
      );
      assert.deepEqual(
        bindings.map(({ metadata }) => metadata?.namespace),
        ['shop'],
      );
    });
  }

  test('names its callers, or none', () => {
    const callers = { users: ['ann'], groups: ['devs'] };
    const named = memberManifests({ syncMode: 'Pull', permissions: { profile: 'workloads', callers } });
    const role = rolesOf(named).find(({ metadata }) => metadata?.name === 'asterism:callers');
    const names = role?.rules?.map(({ resources, resourceNames }) => [resources?.[0], resourceNames]);
    assert.deepEqual(names, [
      ['users', ['ann']],
      ['groups', ['devs']],
      ['*', undefined],
    ]);
    const none = rolesOf(memberManifests({ syncMode: 'Pull', permissions: { profile: 'workloads' } }));
    assert.deepEqual(none.find(({ metadata }) => metadata?.name === 'asterism:callers')?.rules, []);
  });
});

describe('a profile', () => {
  test('is platform where nobody says otherwise', () => {
    const [unsaid, said] = [undefined, { profile: 'platform' } as const].map((permissions) =>
      memberManifests({ syncMode: 'Pull', permissions }),
    );
    assert.deepEqual(unsaid, said);
  });

  for (const profile of PERMISSION_PROFILES) {
    test(`${profile} is read back from the account’s ClusterRole`, () => {
      const permissions: Permissions = { profile, ...(profile === 'workloads' ? { namespaces: ['b', 'a'] } : {}) };
      const read = readPermissions(permissionAnnotations(permissions));
      assert.equal(read?.profile, profile);
      assert.deepEqual(permittedNamespaces(read ?? permissions), profile === 'workloads' ? ['a', 'b'] : []);
    });
  }

  test('of an earlier release is none, and of no namespaces gives none', () => {
    assert.equal(readPermissions(undefined), undefined);
    assert.equal(readPermissions({ 'asterism.dev/permissions': 'root' }), undefined);
    const none = readPermissions(permissionAnnotations({ profile: 'workloads', namespaces: [] }));
    assert.deepEqual(permittedNamespaces(none ?? assert.fail()), []);
  });
});

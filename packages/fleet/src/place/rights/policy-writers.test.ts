import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterRole, PolicyRule, Role, RoleBinding } from '@asterism/machinery';
import { policyWriters, type Rbac } from './policy-writers.ts';
import { formatSubject } from './subject.ts';

type RbacSubject = NonNullable<RoleBinding['subjects']>[number];

const rule = (verbs: string[], resources = ['propagationpolicies'], apiGroups = ['asterism.dev']): PolicyRule => ({
  apiGroups,
  resources,
  verbs,
});
const user = (name: string): RbacSubject => ({ kind: 'User', name, apiGroup: 'rbac.authorization.k8s.io' });
const group = (name: string): RbacSubject => ({ kind: 'Group', name, apiGroup: 'rbac.authorization.k8s.io' });
const account = (namespace: string, name: string): RbacSubject => ({ kind: 'ServiceAccount', namespace, name });

/** Everybody who is bound to a role with the rules, for everything and in the namespace. */
function rbac(rules: PolicyRule[], everywhere: RbacSubject[], inNamespace: RbacSubject[] = []): Rbac {
  const metadata = { name: 'r' };
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' };
  const found = <R extends ClusterRole | Role>(name: string): R | undefined =>
    name === 'r' ? ({ metadata, rules } as unknown as R) : undefined;
  return {
    clusterRole: (name) => found(name),
    role: (_, name) => found(name),
    clusterRoleBindings: () => [{ metadata, roleRef, subjects: everywhere }],
    roleBindings: () => [{ metadata, roleRef, subjects: inNamespace }],
  };
}

const ROWS: {
  name: string;
  rules?: PolicyRule[];
  everywhere?: RbacSubject[];
  inNamespace?: RbacSubject[];
  expected: string[];
}[] = [
  {
    name: 'of a namespace and of everything',
    everywhere: [user('a')],
    inNamespace: [group('b')],
    expected: ['group "b"', 'user "a"'],
  },
  { name: 'each once', everywhere: [user('a')], inNamespace: [user('a')], expected: ['user "a"'] },
  {
    name: 'who only reads is none',
    rules: [rule(['get', 'list', 'watch', 'delete'])],
    everywhere: [user('a')],
    expected: [],
  },
  {
    name: 'of other kinds',
    rules: [rule(['*'], ['clusters', 'propagationpolicies/status'])],
    everywhere: [user('a')],
    expected: [],
  },
  { name: 'of another group', rules: [rule(['*'], ['*'], ['apps'])], everywhere: [user('a')], expected: [] },
  { name: 'of everything', rules: [rule(['*'], ['*'], ['*'])], everywhere: [user('a')], expected: ['user "a"'] },
  { name: 'patch is a write', rules: [rule(['patch'])], everywhere: [user('a')], expected: ['user "a"'] },
  {
    name: 'the control plane is none, whatever it may write',
    everywhere: [
      user('system:kube-controller-manager'),
      group('system:masters'),
      account('kube-system', 'generic-garbage-collector'),
      user('system:serviceaccount:kube-system:x'),
    ],
    expected: [],
  },
  {
    name: 'everybody, anonymous callers and accounts of others are',
    everywhere: [
      group('system:authenticated'),
      user('system:anonymous'),
      account('ci', 'deployer'),
      user('system:serviceaccount:ci:other'),
    ],
    expected: [
      'group "system:authenticated"',
      'service account ci/deployer',
      'user "system:anonymous"',
      'service account ci/other',
    ],
  },
];

describe('who may write policies', () => {
  for (const { name, rules = [rule(['create'])], everywhere = [], inNamespace, expected } of ROWS) {
    test(name, () => {
      assert.deepEqual(policyWriters(rbac(rules, everywhere, inNamespace), 'team-a').map(formatSubject), expected);
    });
  }

  test('policies of the cluster are written by who may write those, everywhere', () => {
    const rules = [rule(['create'], ['clusterpropagationpolicies'])];
    const found = policyWriters(rbac(rules, [user('a')], [user('b')]), undefined);
    assert.deepEqual(found.map(formatSubject), ['user "a"']);
  });
});

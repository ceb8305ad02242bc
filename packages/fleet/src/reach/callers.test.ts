import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterRole, ClusterRoleBinding, PolicyRule } from '@asterism/machinery';
import { PROXY_GROUP } from '../api/index.ts';
import { type Callers, callersOf, formatCallers, impersonationRules, NO_CALLERS, parseCallers } from './callers.ts';

const RBAC = 'rbac.authorization.k8s.io';
const PROXY: PolicyRule = { apiGroups: [PROXY_GROUP], resources: ['clusters/proxy'], verbs: ['get'] };

type Subject = NonNullable<ClusterRoleBinding['subjects']>[number];

const user = (name: string): Subject => ({ kind: 'User', apiGroup: RBAC, name });
const group = (name: string): Subject => ({ kind: 'Group', apiGroup: RBAC, name });
const ANN: Callers = { users: ['ann'], groups: [], anyUser: false };

interface Row {
  name: string;
  /** Of the role that is bound to `subjects`. */
  rules: PolicyRule[];
  subjects?: Subject[];
  kind?: string;
  further?: string[];
  expect: Callers;
}

const rows: Row[] = [
  { name: 'a user by name', rules: [PROXY], expect: ANN },
  { name: 'of this cluster by name', rules: [{ ...PROXY, resourceNames: ['b', 'a'] }], expect: ANN },
  { name: 'not of another', rules: [{ ...PROXY, resourceNames: ['b'] }], expect: NO_CALLERS },
  { name: 'an empty list of names is every one', rules: [{ ...PROXY, resourceNames: [] }], expect: ANN },
  { name: 'all verbs', rules: [{ ...PROXY, verbs: ['*'] }], expect: ANN },
  { name: 'verbs that no call has', rules: [{ ...PROXY, verbs: ['list', 'watch', 'search'] }], expect: NO_CALLERS },
  { name: 'all groups and resources', rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }], expect: ANN },
  { name: 'all of proxy', rules: [{ ...PROXY, resources: ['*/proxy'] }], expect: ANN },
  { name: 'clusters alone', rules: [{ ...PROXY, resources: ['clusters'] }], expect: NO_CALLERS },
  { name: 'the tunnel’s end', rules: [{ ...PROXY, resources: ['clusters/attach'] }], expect: NO_CALLERS },
  { name: 'another group', rules: [{ ...PROXY, apiGroups: ['asterism.dev'] }], expect: NO_CALLERS },
  { name: 'a path is no resource', rules: [{ nonResourceURLs: ['*'], verbs: ['*'] }], expect: NO_CALLERS },
  { name: 'one rule of several', rules: [{ ...PROXY, verbs: ['list'] }, PROXY], expect: ANN },
  { name: 'a Role reaches no cluster', rules: [PROXY], kind: 'Role', expect: NO_CALLERS },
  {
    name: 'a group: any user, and that group',
    rules: [PROXY],
    subjects: [user('ann'), group('team a, all')],
    expect: { users: [], groups: ['team a, all'], anyUser: true },
  },
  {
    name: 'everybody whom the hub knows',
    rules: [PROXY],
    subjects: [group('system:authenticated')],
    expect: { users: [], groups: [], anyUser: true },
  },
  {
    name: 'the system’s own make nobody a caller',
    rules: [PROXY],
    subjects: [
      user('system:kube-scheduler'),
      group('system:masters'),
      group('system:serviceaccounts'),
      group('system:unauthenticated'),
      { kind: 'ServiceAccount', namespace: 'a', name: 'b' },
      user('system:serviceaccount:a:b'),
      user(''),
    ],
    expect: NO_CALLERS,
  },
  {
    name: 'groups that the Cluster names go along',
    rules: [PROXY],
    further: ['payroll', 'system:masters'],
    expect: { users: ['ann'], groups: ['payroll'], anyUser: false },
  },
  { name: 'with nobody', rules: [], further: ['payroll'], expect: NO_CALLERS },
];

describe('who comes to a member through the hub', () => {
  for (const { name, rules, subjects = [user('ann')], kind = 'ClusterRole', further, expect } of rows) {
    test(name, () => {
      const role: ClusterRole = { metadata: { name: 'r' }, rules };
      const bindings = [{ roleRef: { apiGroup: RBAC, kind, name: 'r' }, subjects }];
      const roleOf = (asked: string) => (asked === 'r' ? role : undefined);
      assert.deepEqual(callersOf('a', bindings, { roleOf, further }), expect);
    });
  }

  test('a binding to a role that there is not gives nothing', () => {
    const bindings = [{ roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'gone' }, subjects: [user('ann')] }];
    assert.deepEqual(callersOf('a', bindings, { roleOf: () => undefined }), NO_CALLERS);
  });

  test('who was let in by something else is a caller by name', () => {
    const callers = callersOf('a', [], { roleOf: () => undefined, admitted: ['root'], further: ['team'] });
    assert.deepEqual(callers, { users: ['root'], groups: ['team'], anyUser: false });
  });

  test('users of several bindings, each once, in order', () => {
    const bindings = [['bob', 'ann'], ['ann']].map((names) => ({
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'r' },
      subjects: names.map(user),
    }));
    const { users } = callersOf('a', bindings, { roleOf: () => ({ metadata: { name: 'r' }, rules: [PROXY] }) });
    assert.deepEqual(users, ['ann', 'bob']);
  });
});

describe('as whom a member lets its agent come', () => {
  test('as nobody, while nobody may', () => assert.deepEqual(impersonationRules(NO_CALLERS), []));

  test('users and groups by name; never all groups', () => {
    const [users, groups, ...others] = impersonationRules({ users: ['ann'], groups: ['team'], anyUser: false });
    assert.deepEqual(users, { apiGroups: [''], resources: ['users'], verbs: ['impersonate'], resourceNames: ['ann'] });
    assert.deepEqual(groups, {
      apiGroups: [''],
      resources: ['groups'],
      verbs: ['impersonate'],
      resourceNames: ['team'],
    });
    assert.deepEqual(others, [{ apiGroups: ['authentication.k8s.io'], resources: ['*'], verbs: ['impersonate'] }]);
    const everybody = impersonationRules({ users: [], groups: [], anyUser: true });
    assert.deepEqual(
      everybody.flatMap(({ resources }) => resources),
      ['users', '*'],
    );
  });

  test('what the hub says is read again; names of the system’s never', () => {
    assert.deepEqual(parseCallers(formatCallers(ANN)), ANN);
    const forged = { users: ['ann', 'system:admin', ''], groups: ['system:masters', 'a'], anyUser: false };
    assert.deepEqual(parseCallers(JSON.stringify(forged)), { users: ['ann'], groups: ['a'], anyUser: false });
    for (const broken of [
      undefined,
      '',
      '[]',
      'null',
      '{"users":"ann","groups":[],"anyUser":true}',
      '{"users":[],"groups":[]}',
    ]) {
      assert.equal(parseCallers(broken), undefined);
    }
  });
});

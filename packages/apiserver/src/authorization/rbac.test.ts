import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { AuthorizationAttributes } from '../contract/authorizer.ts';
import { describeRules, uncoveredRules } from './cover-rules.ts';
import { type PolicyRule, ruleAllows } from './policy-rule.ts';
import { RbacAuthorizer } from './rbac-authorizer.ts';
import { RbacIndex } from './rbac-index.ts';

const alice = { username: 'alice', groups: ['devs', 'system:authenticated'] };
const pod = { user: alice, group: '', resource: 'pods', namespace: 'a' };
const readPods: PolicyRule = { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] };

const ruleRows: [name: string, rule: PolicyRule, attributes: Partial<AuthorizationAttributes>, allowed: boolean][] = [
  ['a listed verb', readPods, { verb: 'get' }, true],
  ['another verb', readPods, { verb: 'delete' }, false],
  ['another group', readPods, { verb: 'get', group: 'apps' }, false],
  ['a subresource is not its resource', readPods, { verb: 'get', subresource: 'log' }, false],
  ['a named subresource', { ...readPods, resources: ['pods/log'] }, { verb: 'get', subresource: 'log' }, true],
  ['one subresource of all', { ...readPods, resources: ['*/log'] }, { verb: 'get', subresource: 'log' }, true],
  ['one subresource of all is no resource', { ...readPods, resources: ['*/log'] }, { verb: 'get' }, false],
  ['stars', { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }, { verb: 'x', group: 'y', subresource: 'z' }, true],
  ['a listed name', { ...readPods, resourceNames: ['p'] }, { verb: 'get', name: 'p' }, true],
  ['another name', { ...readPods, resourceNames: ['p'] }, { verb: 'get', name: 'q' }, false],
  ['no name where one is required', { ...readPods, resourceNames: ['p'] }, { verb: 'list' }, false],
  ['an exact URL', { nonResourceURLs: ['/version'], verbs: ['get'] }, { ...url('/version') }, true],
  ['a URL prefix', { nonResourceURLs: ['/apis/*'], verbs: ['get'] }, { ...url('/apis/apps/v1') }, true],
  ['a URL without its prefix', { nonResourceURLs: ['/apis/*'], verbs: ['get'] }, { ...url('/apis') }, false],
  ['a URL rule gives no resource', { nonResourceURLs: ['*'], verbs: ['*'] }, { verb: 'get' }, false],
];

function url(path: string): Partial<AuthorizationAttributes> {
  return { verb: 'get', path, resource: undefined as unknown as string };
}

for (const [name, rule, attributes, allowed] of ruleRows) {
  test(`a rule: ${name}`, () => {
    assert.equal(ruleAllows(rule, { ...pod, verb: 'get', ...attributes }), allowed);
  });
}

function authorizer(): { index: RbacIndex; rbac: RbacAuthorizer } {
  const index = new RbacIndex();
  index.setRole({ metadata: { name: 'reader' }, rules: [readPods] });
  index.setRole({ metadata: { name: 'reader', namespace: 'b' }, rules: [{ ...readPods, verbs: ['watch'] }] });
  return { index, rbac: new RbacAuthorizer(index) };
}

test('a ClusterRole bound in a namespace holds there alone', () => {
  const { index, rbac } = authorizer();
  index.setBinding({
    metadata: { name: 'rb', namespace: 'a' },
    subjects: [{ kind: 'Group', name: 'devs' }],
    roleRef: { kind: 'ClusterRole', name: 'reader' },
  });
  assert.deepEqual(rbac.authorize({ ...pod, verb: 'get' }), {
    allowed: true,
    reason: 'RBAC: allowed by RoleBinding "rb/a" of ClusterRole "reader" to Group "devs"',
  });
  assert.equal(rbac.authorize({ ...pod, verb: 'get', namespace: 'b' }).allowed, false);
  assert.equal(rbac.authorize({ ...pod, verb: 'get', namespace: '' }).allowed, false);
  assert.equal(rbac.authorize({ ...pod, verb: 'get', user: { username: 'bob', groups: [] } }).allowed, false);
});

test('a Role is looked for in the namespace of its binding', () => {
  const { index, rbac } = authorizer();
  index.setBinding({
    metadata: { name: 'rb', namespace: 'b' },
    subjects: [{ kind: 'User', name: 'alice' }],
    roleRef: { kind: 'Role', name: 'reader' },
  });
  assert.equal(rbac.authorize({ ...pod, verb: 'watch', namespace: 'b' }).allowed, true);
  assert.equal(rbac.authorize({ ...pod, verb: 'get', namespace: 'b' }).allowed, false);
});

test('a service account is bound by its namespace and name', () => {
  const { index, rbac } = authorizer();
  index.setBinding({
    metadata: { name: 'crb' },
    subjects: [{ kind: 'ServiceAccount', name: 'sa', namespace: 'x' }],
    roleRef: { kind: 'ClusterRole', name: 'reader' },
  });
  const as = (username: string) => rbac.authorize({ ...pod, verb: 'get', user: { username, groups: [] } });
  assert.deepEqual(as('system:serviceaccount:x:sa'), {
    allowed: true,
    reason: 'RBAC: allowed by ClusterRoleBinding "crb" of ClusterRole "reader" to ServiceAccount "sa/x"',
  });
  assert.equal(as('system:serviceaccount:y:sa').allowed, false);
});

test('a binding that changed or went no longer holds for whom it held', () => {
  const { index, rbac } = authorizer();
  const binding = {
    metadata: { name: 'crb' },
    subjects: [{ kind: 'User', name: 'alice' }],
    roleRef: { kind: 'ClusterRole', name: 'reader' },
  };
  const allowed = () => rbac.authorize({ ...pod, verb: 'get' }).allowed;
  index.setBinding(binding);
  assert.equal(allowed(), true);
  index.setBinding({ ...binding, subjects: [{ kind: 'User', name: 'bob' }] });
  assert.equal(allowed(), false);
  index.setBinding(binding);
  index.deleteRole({ metadata: { name: 'reader' } });
  assert.deepEqual(rbac.authorize({ ...pod, verb: 'get' }), {
    allowed: false,
    reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "reader" not found',
  });
  index.deleteBinding(binding);
  assert.deepEqual(rbac.authorize({ ...pod, verb: 'get' }), { allowed: false, reason: '' });
});

test('system:masters may do everything, without any role', () => {
  const { rbac } = authorizer();
  const user = { username: 'root', groups: ['system:masters'] };
  assert.equal(rbac.authorize({ ...pod, user, verb: 'anything' }).allowed, true);
});

const coverRows: [name: string, owned: PolicyRule[], wanted: PolicyRule[], uncovered: string[]][] = [
  ['the same', [readPods], [readPods], []],
  ['less', [readPods], [{ ...readPods, verbs: ['get'] }], []],
  [
    'put together from several',
    [
      { ...readPods, verbs: ['get'] },
      { ...readPods, verbs: ['list'] },
    ],
    [readPods],
    [],
  ],
  [
    'more verbs',
    [readPods],
    [{ ...readPods, verbs: ['get', 'delete', 'patch'] }],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["delete" "patch"]}'],
  ],
  [
    'a name that is not owned',
    [{ ...readPods, resourceNames: ['a'] }],
    [{ ...readPods, verbs: ['get'], resourceNames: ['a', 'b'] }],
    ['{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}'],
  ],
  [
    'all names where one is owned',
    [{ ...readPods, resourceNames: ['a'] }],
    [{ ...readPods, verbs: ['get'] }],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
  ],
  ['a subresource by star', [{ ...readPods, resources: ['*/log'] }], [{ ...readPods, resources: ['pods/log'] }], []],
  [
    'a URL below a star',
    [{ nonResourceURLs: ['/a/*'], verbs: ['*'] }],
    [{ nonResourceURLs: ['/a/b*'], verbs: ['get'] }],
    [],
  ],
  [
    'a URL',
    [readPods],
    [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
    ['{NonResourceURLs:["/metrics"], Verbs:["get"]}'],
  ],
];

for (const [name, owned, wanted, uncovered] of coverRows) {
  test(`handing on: ${name}`, () => {
    assert.deepEqual(describeRules(uncoveredRules(owned, wanted)), uncovered);
  });
}

const words = (...values: string[]) => fc.subarray(values, { minLength: 1 });
const anyRule = fc.record({
  apiGroups: words('', 'apps', '*'),
  resources: words('pods', 'pods/log', '*/log', '*'),
  verbs: words('get', 'list', '*'),
  resourceNames: fc.subarray(['a', 'b']),
});

test('what covered rules allow, the covering rules allow', () => {
  fc.assert(
    fc.property(
      fc.array(anyRule),
      fc.array(anyRule),
      fc.record({
        verb: fc.constantFrom('get', 'list', 'watch'),
        group: fc.constantFrom('', 'apps', 'batch'),
        resource: fc.constantFrom('pods', 'nodes'),
        subresource: fc.constantFrom('', 'log'),
        name: fc.constantFrom('', 'a', 'b', 'c'),
      }),
      (owned, wanted, asked) => {
        fc.pre(uncoveredRules(owned, wanted).length === 0);
        const attributes = { user: alice, ...asked };
        if (wanted.some((rule) => ruleAllows(rule, attributes))) {
          assert.ok(owned.some((rule) => ruleAllows(rule, attributes)));
        }
      },
    ),
  );
});

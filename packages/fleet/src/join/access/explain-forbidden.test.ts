import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { failure } from '@asterism/machinery';
import { explainForbidden, forbiddenAdvice, type MissingRight } from './explain-forbidden.ts';

const WHO = 'User "system:serviceaccount:asterism-system:asterism-agent"';
const cannot = (what: string): string => `things "x" is forbidden: ${WHO} cannot ${what}`;

/** Messages of kube-apiserver 1.20 and 1.36. */
const rows: [name: string, message: string, expected: MissingRight | undefined][] = [
  [
    'a workload in a namespace that is not listed',
    cannot('patch resource "deployments" in API group "apps" in the namespace "shop"'),
    { right: 'patch deployments.apps in namespace shop', profile: 'workloads', namespace: 'shop' },
  ],
  [
    'a kind of the core group',
    cannot('create resource "secrets" in API group "" in the namespace "shop"'),
    { right: 'create secrets in namespace shop', profile: 'workloads', namespace: 'shop' },
  ],
  [
    'a workload in kube-system',
    cannot('patch resource "daemonsets" in API group "apps" in the namespace "kube-system"'),
    { right: 'patch daemonsets.apps in namespace kube-system', profile: 'platform' },
  ],
  [
    'a role',
    cannot('patch resource "clusterroles" in API group "rbac.authorization.k8s.io" at the cluster scope'),
    { right: 'patch clusterroles.rbac.authorization.k8s.io', profile: 'platform' },
  ],
  [
    'a namespace',
    cannot('create resource "namespaces" in API group "" at the cluster scope'),
    { right: 'create namespaces', profile: 'platform' },
  ],
  [
    'a custom kind, which cannot be listed',
    `acme.io/v1 Widget cannot be listed: widgets.acme.io is forbidden: ${WHO} cannot list resource "widgets" in API group "acme.io" at the cluster scope`,
    { right: 'list widgets.acme.io', profile: 'platform' },
  ],
  [
    'a subresource',
    cannot('create resource "serviceaccounts/token" in API group "" in the namespace "shop"'),
    { right: 'create serviceaccounts/token in namespace shop', profile: 'platform' },
  ],
  [
    'a verb beyond reading and writing',
    cannot('approve resource "signers" in API group "certificates.k8s.io" at the cluster scope'),
    { right: 'approve signers.certificates.k8s.io', profile: 'full' },
  ],
  ['a path', cannot('get path "/metrics"'), { right: 'get /metrics', profile: 'full' }],
  [
    'binding a role',
    cannot('bind resource "clusterroles" in API group "rbac.authorization.k8s.io" at the cluster scope'),
    { right: 'bind clusterroles.rbac.authorization.k8s.io', profile: 'platform' },
  ],
  [
    'rights that the account does not hold',
    `clusterroles.rbac.authorization.k8s.io "metrics" is forbidden: user "system:serviceaccount:asterism-system:asterism-agent" (groups=["system:serviceaccounts"]) is attempting to grant RBAC permissions not currently held:\n{NonResourceURLs:["/metrics"], Verbs:["get"]}`,
    {
      right: 'write clusterroles "metrics" that grants {NonResourceURLs:["/metrics"], Verbs:["get"]}',
      profile: 'platform',
    },
  ],
  ['a webhook', 'admission webhook "deny.example.com" denied the request: no', undefined],
  [
    'a webhook that imitates the authorizer',
    'admission webhook "w" denied the request: you cannot create resource "pods"',
    undefined,
  ],
  [
    'a quota',
    'pods "x" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=5, limited: pods=5',
    undefined,
  ],
  ['a level of Pod Security', 'pods "x" is forbidden: violates PodSecurity "restricted:latest": privileged', undefined],
  [
    'a namespace that ends',
    'configmaps "x" is forbidden: unable to create new content in namespace shop because it is being terminated',
    undefined,
  ],
  ['our own reserved names', 'ClusterRole "asterism:callers" is kept by Asterism itself', undefined],
  ['nothing', '', undefined],
  ['half a sentence', cannot('patch resource "deploy'), undefined],
];

describe('an answer 403 of a member', () => {
  const details = { name: 'metrics', kind: 'clusterroles' };
  for (const [name, message, expected] of rows) {
    test(`${name}: ${expected === undefined ? 'no profile would change it' : expected.profile}`, () => {
      assert.deepEqual(explainForbidden(failure(403, message, { details })), expected);
    });
  }

  test('of any length is read at once', () => {
    for (const piece of ['cannot ', ' cannot patch resource "', 'User "', '"', '\n', ' in API group "']) {
      const started = performance.now();
      explainForbidden(failure(403, `User "x" cannot ${piece.repeat(400_000)}`));
      assert.ok(performance.now() - started < 100, piece);
    }
  });

  test('names the flags that change it', () => {
    const advice = forbiddenAdvice(failure(403, rows[0]?.[1] ?? ''));
    assert.match(advice ?? '', /--permissions workloads and shop in --namespaces, or --permissions platform/);
    assert.equal(forbiddenAdvice(failure(409, rows[0]?.[1] ?? '')), undefined);
  });
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Client } from '@asterism/client';
import {
  API_VERSION,
  CLUSTER_PROPAGATION_POLICIES,
  CLUSTERS,
  clusterNamespace,
  PROPAGATION_POLICIES,
  SYSTEM_NAMESPACE,
  WORKS,
} from '@asterism/fleet/api';
import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  DEPLOYMENTS,
  type KubeObject,
  NAMESPACES,
  ROLE_BINDINGS,
  SECRETS,
} from '@asterism/machinery';
import { apply, call, TestFleet, untilOne } from '../../../packages/hub/src/testing/test-fleet.ts';
import { runAster } from '../../cluster/aster.ts';
import { CONTROL_PLANE_BINARIES } from '../../cluster/control-plane.ts';
import { unlessThere } from '../../cluster/real-kubernetes.ts';
import { until } from '../../cluster/until.ts';
import { untilAll } from '../../cluster/until-all.ts';
import { untilGone } from '../../cluster/until-gone.ts';
import { type Attack, ATTACKS, ProfiledMember } from './profiled-member.ts';

describe('the profiles of the account in a member', {
  skip: unlessThere('kubectl-1.36', ...CONTROL_PLANE_BINARIES),
}, () => {
  let fleet: TestFleet;
  let member: ProfiledMember;

  before(async () => {
    [fleet, member] = await Promise.all([
      TestFleet.start(),
      ProfiledMember.start('--permissions', 'workloads', '--namespaces', 'shop', '--callers', 'ann'),
    ]);
    await fleet.hub.client.resource(NAMESPACES).create({ metadata: { name: 'shop' } });
  });
  after(async () => {
    await fleet?.[Symbol.asyncDispose]();
    await member?.[Symbol.asyncDispose]();
  });

  for (const attack of ATTACKS) {
    test(`workloads: the account does not get ${attack.name}`, async () => {
      const { status, body } = await attempt(member.account, attack);
      assert.equal(status, 403, body);
    });
  }

  test('workloads: it writes workloads in the namespaces that are listed, and there alone', async () => {
    for (const [namespace, expected] of [
      ['shop', 201],
      ['default', 403],
    ] as const) {
      for (const [path, body] of workloads(namespace)) {
        assert.equal((await call(member.account, 'POST', `${path}?dryRun=All`, { body })).status, expected, path);
      }
    }
    for (const path of [
      '/api/v1/pods',
      '/api/v1/nodes',
      '/apis/apps/v1/deployments',
      `/apis/rbac.authorization.k8s.io/v1/clusterroles`,
    ]) {
      assert.equal((await call(member.account, 'GET', path)).status, 200, path);
    }
    const headers = { 'impersonate-user': 'ann' };
    assert.equal((await call(member.account, 'GET', '/version', { headers })).status, 200, 'a caller that was named');
  });

  test('workloads: it delivers them, and a refused delivery names the profile that allows it', async () => {
    const { client } = fleet.hub;
    await member.join(fleet, 'edge');
    await apply(client, [deployment('web'), secret('key'), clusterRole('metrics'), policyForShop(), policyForRoles()]);
    await until(member.controlPlane.client, DEPLOYMENTS, { namespace: 'shop', name: 'web' }, exists);
    await until(member.controlPlane.client, SECRETS, { namespace: 'shop', name: 'key' }, exists);
    const refused = await untilOne(
      client,
      WORKS,
      ({ status }) => status?.manifestStatuses?.some(({ applied }) => !applied) === true,
      { namespace: clusterNamespace('edge'), timeoutMs: 20_000 },
    );
    assert.match(
      JSON.stringify(refused.status),
      /may not write clusterroles[^"]*--permissions platform|--permissions platform/,
    );
    const cluster = await until(client, CLUSTERS, { name: 'edge' }, (it) => it.status?.permissions !== undefined);
    assert.deepEqual(cluster.status?.permissions, { profile: 'workloads', namespaces: ['shop'] });
  });

  test('platform: the roles of kube-prometheus and Argo CD, bindings of edit and aggregated roles are delivered', async () => {
    const { client } = fleet.hub;
    await member.change('--permissions', 'platform');
    await apply(client, [...platformRoles(), bindingOf('edit'), bindingOf('admin')]);
    for (const { metadata } of [clusterRole('metrics'), ...platformRoles()]) {
      await until(member.controlPlane.client, CLUSTER_ROLES, { name: metadata?.name ?? '' }, exists);
    }
    for (const name of ['edit', 'admin']) {
      await until(member.controlPlane.client, ROLE_BINDINGS, { namespace: 'shop', name }, exists);
    }
    const cluster = await until(
      client,
      CLUSTERS,
      { name: 'edge' },
      (it) => it.status?.permissions?.profile === 'platform',
    );
    assert.deepEqual(cluster.status?.permissions, { profile: 'platform' });
  });

  test('a smaller profile takes the rights away again, and the status shows an account that has more', async () => {
    const { client } = fleet.hub;
    await member.change('--permissions', 'workloads', '--namespaces', 'shop');
    for (const attack of ATTACKS) {
      const { status, body } = await attempt(member.account, attack);
      assert.equal(status, 403, `${attack.name}: ${body}`);
    }
    await until(client, CLUSTERS, { name: 'edge' }, (it) => it.status?.permissions?.profile === 'workloads');
    const account = '--serviceaccount=asterism-system:asterism-agent';
    await member.kubectl('create', 'clusterrolebinding', 'more', '--clusterrole=cluster-admin', account);
    await member.kubectl('annotate', 'clusterrole', 'asterism:agent', 'looked=again');
    const more = await until(client, CLUSTERS, { name: 'edge' }, (it) => it.status?.permissions?.excess !== undefined);
    assert.ok(more.status?.permissions?.excess?.includes('create serviceaccounts/token in kube-system'));
    await member.kubectl('delete', 'clusterrolebinding', 'more');
  });

  test('full: it may do everything', async () => {
    await member.change('--permissions', 'full');
    for (const path of ['/metrics', '/api/v1/secrets']) {
      assert.equal((await call(member.account, 'GET', path)).status, 200, path);
    }
    await until(fleet.hub.client, CLUSTERS, { name: 'edge' }, (it) => it.status?.permissions?.profile === 'full');
  });
});

describe('the profile workloads', { skip: unlessThere('kubectl-1.36', ...CONTROL_PLANE_BINARIES) }, () => {
  let fleet: TestFleet;
  let member: ProfiledMember;
  const flags = ['--permissions', 'workloads', '--namespaces', 'shop'];

  before(async () => {
    [fleet, member] = await Promise.all([TestFleet.start(), ProfiledMember.start(...flags)]);
    await fleet.hub.client.resource(NAMESPACES).create({ metadata: { name: 'shop' } });
    await apply(fleet.hub.client, [deployment('web'), secret('key'), policyForShop()]);
  });
  after(async () => {
    await fleet?.[Symbol.asyncDispose]();
    await member?.[Symbol.asyncDispose]();
  });

  const delivered = async (): Promise<void> => {
    await until(member.controlPlane.client, DEPLOYMENTS, { namespace: 'shop', name: 'web' }, exists);
    await until(member.controlPlane.client, SECRETS, { namespace: 'shop', name: 'key' }, exists);
  };
  const goneWithJoin = async (): Promise<void> => {
    const made = { labelSelector: 'asterism.dev/made-by=join' };
    for (const type of [CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS]) {
      await untilAll(member.controlPlane.client, type, made, (left) => left.length === 0);
    }
    await member.kubectl('get', 'namespace', 'shop');
  };

  test('an agent takes its join out again with it', async () => {
    await member.join(fleet, 'edge');
    await delivered();
    await runAster(['leave', 'edge', '--kubeconfig', fleet.hub.kubeconfigPath]);
    await goneWithJoin();
  });

  test('the hub joins a cluster without an agent with it, and takes it out', async () => {
    await untilGone(member.controlPlane.client, NAMESPACES, { name: SYSTEM_NAMESPACE });
    const there = ['--kubeconfig', member.controlPlane.kubeconfig, '--name', 'direct'];
    await runAster(['join', '--push', ...there, ...flags, '--hub-kubeconfig', fleet.hub.kubeconfigPath]);
    await delivered();
    const { client } = fleet.hub;
    const cluster = await until(client, CLUSTERS, { name: 'direct' }, (it) => it.status?.permissions !== undefined);
    assert.deepEqual(cluster.status?.permissions, { profile: 'workloads', namespaces: ['shop'] });
    assert.match(
      await runAster(['get', 'clusters', '-o', 'wide', '--kubeconfig', fleet.hub.kubeconfigPath]),
      /workloads/,
    );
    const said = await runAster(['describe', 'cluster', 'direct', '--kubeconfig', fleet.hub.kubeconfigPath]);
    assert.match(said, /^Permissions: +workloads in shop$/m);
    await runAster(['leave', 'direct', '--kubeconfig', fleet.hub.kubeconfigPath]);
    await goneWithJoin();
  });
});

function attempt(client: Client, { method, path, body, headers }: Attack) {
  return call(client, method, path, { body, ...(headers ? { headers } : {}) });
}

const exists = (): boolean => true;

const secret = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'shop' },
  data: { a: 'Yg==' },
});

const deployment = (name: string, namespace = 'shop'): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
});

function workloads(namespace: string): [path: string, body: object][] {
  const core = `/api/v1/namespaces/${namespace}`;
  return [
    [`/apis/apps/v1/namespaces/${namespace}/deployments`, deployment('probe', namespace)],
    [`${core}/configmaps`, { metadata: { name: 'probe' } }],
    [`${core}/secrets`, { metadata: { name: 'probe' } }],
    [`${core}/services`, { metadata: { name: 'probe' }, spec: { ports: [{ port: 80 }] } }],
    [`${core}/serviceaccounts`, { metadata: { name: 'probe' } }],
  ];
}

function policyForShop(): KubeObject {
  const resourceSelectors = [
    { apiVersion: 'apps/v1', kind: 'Deployment' },
    { apiVersion: 'v1', kind: 'Secret', name: 'key' },
    { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding' },
  ];
  return {
    apiVersion: API_VERSION,
    kind: PROPAGATION_POLICIES.kind,
    metadata: { name: 'shop', namespace: 'shop' },
    spec: { resourceSelectors, placement: {} },
  };
}

function policyForRoles(): KubeObject {
  const names = [clusterRole('metrics'), ...platformRoles()].map(({ metadata }) => metadata?.name ?? '');
  const resourceSelectors = names.map((name) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    name,
  }));
  return {
    apiVersion: API_VERSION,
    kind: CLUSTER_PROPAGATION_POLICIES.kind,
    metadata: { name: 'roles' },
    spec: { resourceSelectors, placement: {} },
  };
}

function clusterRole(
  name: string,
  more: object = { rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }] },
): KubeObject {
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, ...more };
}

/** As Argo CD's application controller has them, and one that the member's own controller fills in. */
function platformRoles(): KubeObject[] {
  const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };
  const clusterRoleSelectors = [{ matchLabels: { 'example.com/aggregate': 'true' } }];
  return [
    clusterRole('argocd-like', { rules: [everything, { nonResourceURLs: ['*'], verbs: ['*'] }] }),
    clusterRole('aggregated', { aggregationRule: { clusterRoleSelectors }, rules: [] }),
  ];
}

const bindingOf = (role: string): KubeObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { name: role, namespace: 'shop' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
  subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'ann' }],
});

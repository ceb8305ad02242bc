import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { TestServer } from '@asterism/apiserver/testing';
import type { Client } from '@asterism/client';
import {
  API_VERSION,
  CLUSTER_PROPAGATION_POLICIES,
  CLUSTER_REGISTRATIONS,
  CLUSTERS,
  type ClusterRegistration,
  clusterNamespace,
  PROPAGATION_POLICIES,
  type Work,
  WORKS,
} from '@asterism/fleet/api';
import { CLUSTER_ROLES, CONFIG_MAPS, DEPLOYMENTS, type KubeObject, NAMESPACES, SECRETS } from '@asterism/machinery';
import { watchResource } from '@asterism/runtime';
import { apply, call, TestFleet, until } from '../../packages/hub/src/testing/test-fleet.ts';
import { CONTROL_PLANE_BINARIES } from '../cluster/control-plane.ts';
import { runAster } from '../cluster/aster.ts';
import { unlessThere } from '../cluster/real-kubernetes.ts';
import { type Attack, ATTACKS, ProfiledMember } from './hostile/profiled-member.ts';

const API = '/apis/asterism.dev/v1alpha1';

describe('a hostile cluster that joins', () => {
  let fleet: TestFleet;
  let member: TestServer;
  let agent: Client;

  before(async () => {
    fleet = await TestFleet.start();
    const { client } = fleet.hub;
    await client.resource(NAMESPACES).create({ metadata: { name: 'shop' } });
    await apply(client, [
      configMap('secret-plan'),
      configMap('for-all'),
      policy('production', 'secret-plan', {
        clusterAffinity: { labelSelector: { matchLabels: { tier: 'production' } } },
      }),
      policy('region', 'secret-plan', { clusterAffinity: { fieldSelector: inField('region', 'eu') } }),
      policy('zone', 'secret-plan', { clusterAffinity: { fieldSelector: inField('zone', 'a') } }),
      policy('all', 'for-all', {}),
    ]);
    member = await fleet.startMember();
    // It may join without a person, and that is all that the administrator gave away.
    const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
    const description = { labels: { tier: 'production' }, region: 'eu', provider: 'own', zones: ['a'] };
    await fleet.join(member, { clusterName: 'edge-1', token, description }).ready;
    agent = await fleet.agentOf(member);
  });
  after(() => fleet?.[Symbol.asyncDispose]());

  test('gets none of the labels, regions and zones that it asks for, and the registration shows them', async () => {
    const { metadata, spec } = await fleet.hub.client.resource(CLUSTERS).get({ name: 'edge-1' });
    assert.deepEqual(
      [metadata.labels, spec.region, spec.provider, spec.zones],
      [undefined, undefined, undefined, undefined],
    );
    const { status } = await registration(fleet.hub.client);
    const refused = { labels: { tier: 'production' }, region: 'eu', provider: 'own', zones: ['a'] };
    assert.deepEqual(status?.refused, refused);
    assert.match(status?.message ?? '', /not given: label tier=production, provider own, region eu, zone a/);
  });

  const attempts: [name: string, method: string, path: string, body: object, status: number][] = [
    ['its labels', 'PATCH', `${API}/clusters/edge-1`, { metadata: { labels: { tier: 'production' } } }, 403],
    ['its region', 'PATCH', `${API}/clusters/edge-1`, { spec: { region: 'eu' } }, 403],
    ['its registration', 'PATCH', `${API}/clusterregistrations/x`, { spec: { region: 'eu' } }, 403],
    [
      'its labels with its status',
      'PATCH',
      `${API}/clusters/edge-1/status`,
      { metadata: { labels: { tier: 'production' }, annotations: { a: 'b' } }, spec: { region: 'eu', zones: ['a'] } },
      200,
    ],
    [
      'itself ready, with every kind and a profile',
      'PATCH',
      `${API}/clusters/edge-1/status`,
      {
        status: {
          permissions: { profile: 'full' },
          apis: [{ groupVersion: 'v1', resources: [{ name: 'configmaps', kind: 'ConfigMap', namespaced: true }] }],
        },
      },
      200,
    ],
  ];
  for (const [name, method, path, body, status] of attempts) {
    test(`says of ${name} what it likes: ${status}`, async () => {
      assert.equal((await call(agent, method, path, { body })).status, status);
    });
  }

  test('gets the Works for every cluster, and no other, whatever it says', async () => {
    const { client } = fleet.hub;
    const names = async (): Promise<string[]> => {
      const { items } = await client.resource(WORKS).list({ namespace: clusterNamespace('edge-1') });
      return items.flatMap(({ spec }) => spec.manifests.map(({ metadata }) => metadata?.name ?? ''));
    };
    await untilWork(client, 'edge-1', ({ spec }) =>
      spec.manifests.some(({ metadata }) => metadata?.name === 'for-all'),
    );
    // A template that is placed after all that it said: by then the hub has read it.
    await apply(client, [configMap('last'), policy('last', 'last', {})]);
    await untilWork(client, 'edge-1', ({ spec }) => spec.manifests.some(({ metadata }) => metadata?.name === 'last'));
    assert.deepEqual((await names()).sort(), ['for-all', 'last']);
    const cluster = await client.resource(CLUSTERS).get({ name: 'edge-1' });
    assert.deepEqual(
      [cluster.metadata.labels, cluster.spec.region, cluster.spec.zones],
      [undefined, undefined, undefined],
    );
  });

  test('changes nothing by registering again with other wishes', async () => {
    const { client } = fleet.hub;
    await client
      .resource(CLUSTERS)
      .patch({ name: 'edge-1' }, { type: 'merge', body: { metadata: { labels: { tier: 'edge' } } } });
    const before = await client.resource(CLUSTERS).get({ name: 'edge-1' });
    await member.client.resource(SECRETS).delete({ namespace: 'asterism-system', name: 'agent-credential' });
    await client
      .resource(CLUSTERS)
      .patch({ name: 'edge-1' }, { type: 'merge', body: { spec: { publicKeyHash: null } } });
    const { token } = await fleet.hub.createBootstrapToken({
      autoApprove: true,
      facts: { labels: { tier: 'staging' } },
    });
    const again = fleet.join(member, { token, description: { labels: { tier: 'production' }, region: 'eu' } });
    const asked = await untilRegistration(
      client,
      ({ status, spec }) =>
        spec.labels?.['tier'] === 'production' && spec.zones === undefined && status?.publicKeyHash !== undefined,
    );
    const body = { status: { decision: 'Approved', decidedBy: 'ann' } };
    await client
      .resource(CLUSTER_REGISTRATIONS)
      .patch({ name: asked.metadata.name ?? '' }, { type: 'merge', body }, { subresource: 'status' });
    await again.ready;
    const now = await client.resource(CLUSTERS).get({ name: 'edge-1' });
    assert.deepEqual([now.metadata.labels, now.spec.region], [before.metadata.labels, undefined]);
  });
});

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
    await until(member.controlPlane.client, DEPLOYMENTS, { namespace: 'shop', name: 'web' }, (it) => it !== undefined);
    await until(member.controlPlane.client, SECRETS, { namespace: 'shop', name: 'key' }, (it) => it !== undefined);
    const refused = await untilWork(
      client,
      'edge',
      ({ status }) => status?.manifestStatuses?.some(({ applied }) => !applied) === true,
    );
    assert.match(
      JSON.stringify(refused.status),
      /may not write clusterroles[^"]*--permissions platform|--permissions platform/,
    );
    const cluster = await until(client, CLUSTERS, { name: 'edge' }, (it) => it?.status?.permissions !== undefined);
    assert.deepEqual(cluster?.status?.permissions, { profile: 'workloads', namespaces: ['shop'] });
  });

  test('platform: the roles of kube-prometheus and Argo CD, bindings of edit and aggregated roles are delivered', async () => {
    const { client } = fleet.hub;
    await member.change('--permissions', 'platform');
    await apply(client, [...platformRoles(), bindingOf('edit'), bindingOf('admin')]);
    for (const { metadata } of [clusterRole('metrics'), ...platformRoles()]) {
      const name = metadata?.name ?? '';
      await eventually(() => member.controlPlane.client.resource(CLUSTER_ROLES).get({ name }));
    }
    for (const name of ['edit', 'admin']) {
      await eventually(() => member.kubectl('get', 'rolebinding', name, '--namespace', 'shop'));
    }
    const cluster = await until(
      client,
      CLUSTERS,
      { name: 'edge' },
      (it) => it?.status?.permissions?.profile === 'platform',
    );
    assert.deepEqual(cluster?.status?.permissions, { profile: 'platform' });
  });

  test('a smaller profile takes the rights away again, and the status shows an account that has more', async () => {
    const { client } = fleet.hub;
    await member.change('--permissions', 'workloads', '--namespaces', 'shop');
    for (const attack of ATTACKS) {
      const { status, body } = await attempt(member.account, attack);
      assert.equal(status, 403, `${attack.name}: ${body}`);
    }
    await until(client, CLUSTERS, { name: 'edge' }, (it) => it?.status?.permissions?.profile === 'workloads');
    const account = '--serviceaccount=asterism-system:asterism-agent';
    await member.kubectl('create', 'clusterrolebinding', 'more', '--clusterrole=cluster-admin', account);
    await member.kubectl('annotate', 'clusterrole', 'asterism:agent', 'looked=again');
    const more = await until(client, CLUSTERS, { name: 'edge' }, (it) => it?.status?.permissions?.excess !== undefined);
    assert.ok(more?.status?.permissions?.excess?.includes('create serviceaccounts/token in kube-system'));
    await member.kubectl('delete', 'clusterrolebinding', 'more');
  });

  test('full: it may do everything', async () => {
    await member.change('--permissions', 'full');
    for (const path of ['/metrics', '/api/v1/secrets']) {
      assert.equal((await call(member.account, 'GET', path)).status, 200, path);
    }
    await until(fleet.hub.client, CLUSTERS, { name: 'edge' }, (it) => it?.status?.permissions?.profile === 'full');
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
    await until(member.controlPlane.client, DEPLOYMENTS, { namespace: 'shop', name: 'web' }, (it) => it !== undefined);
    await until(member.controlPlane.client, SECRETS, { namespace: 'shop', name: 'key' }, (it) => it !== undefined);
  };
  const goneWithJoin = async (): Promise<void> => {
    const made = [
      'clusterroles,clusterrolebindings,rolebindings',
      '--all-namespaces',
      '--selector',
      'asterism.dev/made-by=join',
    ];
    await eventually(async () => assert.equal(await member.kubectl('get', ...made, '--output', 'name'), ''));
    await member.kubectl('get', 'namespace', 'shop');
  };

  test('an agent takes its join out again with it', async () => {
    await member.join(fleet, 'edge');
    await delivered();
    await runAster(['leave', 'edge', '--kubeconfig', fleet.hub.kubeconfigPath]);
    await goneWithJoin();
  });

  test('the hub joins a cluster without an agent with it, and takes it out', async () => {
    await eventually(() => member.kubectl('wait', '--for', 'delete', 'namespace/asterism-system', '--timeout', '1s'));
    const there = ['--kubeconfig', member.controlPlane.kubeconfig, '--name', 'direct'];
    await runAster(['join', '--push', ...there, ...flags, '--hub-kubeconfig', fleet.hub.kubeconfigPath]);
    await delivered();
    const { client } = fleet.hub;
    const cluster = await until(client, CLUSTERS, { name: 'direct' }, (it) => it?.status?.permissions !== undefined);
    assert.deepEqual(cluster?.status?.permissions, { profile: 'workloads', namespaces: ['shop'] });
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

async function registration(client: Client): Promise<ClusterRegistration> {
  const { items } = await client.resource(CLUSTER_REGISTRATIONS).list();
  return items.find(({ spec }) => spec.clusterName === 'edge-1') ?? assert.fail('no registration');
}

async function untilRegistration(
  client: Client,
  wanted: (it: ClusterRegistration) => boolean,
): Promise<ClusterRegistration> {
  const signal = AbortSignal.timeout(20_000);
  for await (const event of watchResource(client.resource(CLUSTER_REGISTRATIONS), { signal })) {
    if ((event.type === 'InitApply' || event.type === 'Apply') && wanted(event.object)) return event.object;
  }
  return assert.fail('no registration is as wanted');
}

async function untilWork(client: Client, cluster: string, wanted: (work: Work) => boolean): Promise<Work> {
  const options = { namespace: clusterNamespace(cluster), signal: AbortSignal.timeout(20_000) };
  for await (const event of watchResource(client.resource(WORKS), options)) {
    if ((event.type === 'InitApply' || event.type === 'Apply') && wanted(event.object)) return event.object;
  }
  return assert.fail('no Work is as wanted');
}

/** Refusals are tried again ever more seldom. */
async function eventually<T>(look: () => Promise<T>): Promise<T> {
  for (const deadline = performance.now() + 30_000; ; ) {
    try {
      return await look();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

const inField = (key: string, value: string) => ({ matchExpressions: [{ key, operator: 'In', values: [value] }] });

const configMap = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'shop' },
  data: { a: 'b' },
});

const secret = (name: string): KubeObject => ({ ...configMap(name), kind: 'Secret', data: { a: 'Yg==' } });

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

function policy(name: string, configMapName: string, placement: object): KubeObject {
  return {
    apiVersion: API_VERSION,
    kind: PROPAGATION_POLICIES.kind,
    metadata: { name, namespace: 'shop' },
    spec: { resourceSelectors: [{ apiVersion: 'v1', kind: CONFIG_MAPS.kind, name: configMapName }], placement },
  };
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

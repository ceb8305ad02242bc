import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { TestServer } from '@asterism/apiserver/testing';
import { untilObject } from '@asterism/apiserver/testing';
import type { Client } from '@asterism/client';
import {
  API_VERSION,
  AUTHOR_ANNOTATION,
  CLUSTER_PROPAGATION_POLICIES,
  CLUSTERS,
  PROPAGATION_POLICIES,
  type PropagationPolicy,
  RESOURCE_BINDINGS,
  type ResourceBinding,
} from '@asterism/fleet/api';
import { createBootstrapToken, PLACE_ROLE, POLICY_EDITOR_ROLE } from '@asterism/fleet/join';
import {
  CLUSTER_ROLE_BINDINGS,
  CONFIG_MAPS,
  type KubeObject,
  RESOURCE_QUOTAS,
  type ResourceType,
  SECRETS,
} from '@asterism/machinery';
import { apply, TestFleet } from './testing/test-fleet.ts';

const RBAC = 'rbac.authorization.k8s.io';
const NAMESPACE = 'team-a';
const inTeam = (name: string) => ({ namespace: NAMESPACE, name });

let fleet: TestFleet;
let hub: Client;
/** `tom` may write policies and ConfigMaps in team-a, and place in edge-1; `eve` may write policies there, and place nowhere. */
let tom: Client;
let eve: Client;
const members = new Map<string, TestServer>();

before(async () => {
  fleet = await TestFleet.start();
  hub = fleet.client(fleet.hub.adminConnection);
  for (const clusterName of ['edge-1', 'edge-2']) {
    const member = await fleet.startMember();
    const { token } = await createBootstrapToken(hub, { autoApprove: true, cluster: clusterName });
    await fleet.join(member, { clusterName, token }).ready;
    members.set(clusterName, member);
  }
  await apply(hub, [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    role('config-editor', [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'create', 'update', 'patch', 'delete'] },
    ]),
    clusterRole('place-edge-1', [
      { apiGroups: ['asterism.dev'], resources: ['clusters'], resourceNames: ['edge-1'], verbs: ['place'] },
    ]),
    ...['tom', 'eve'].flatMap((user) => [
      bound('ClusterRole', POLICY_EDITOR_ROLE, user),
      bound('Role', 'config-editor', user),
    ]),
    clusterBound('place-edge-1', 'tom'),
  ]);
  [tom, eve] = await Promise.all([fleet.person('tom', 'team-a'), fleet.person('eve')]);
});
after(() => fleet[Symbol.asyncDispose]());

function role(name: string, rules: object[]): KubeObject {
  return { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata: inTeam(name), rules };
}
function clusterRole(name: string, rules: object[]): KubeObject {
  return { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name }, rules };
}
function bound(kind: string, name: string, user: string): KubeObject {
  const metadata = inTeam(`${name.replace(':', '-')}-${user}`);
  const subjects = [{ apiGroup: RBAC, kind: 'User', name: user }];
  return { apiVersion: `${RBAC}/v1`, kind: 'RoleBinding', metadata, roleRef: { apiGroup: RBAC, kind, name }, subjects };
}
function clusterBound(name: string, user: string): KubeObject {
  const metadata = { name: `${name.replace(':', '-')}-${user}` };
  const subjects = [{ apiGroup: RBAC, kind: 'User', name: user }];
  const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name };
  return { apiVersion: `${RBAC}/v1`, kind: 'ClusterRoleBinding', metadata, roleRef, subjects };
}

function policy(name: string, spec: Partial<PropagationPolicy['spec']> = {}): PropagationPolicy {
  const resourceSelectors = [{ apiVersion: 'v1', kind: 'ConfigMap', name }];
  return {
    apiVersion: API_VERSION,
    kind: 'PropagationPolicy',
    metadata: inTeam(name),
    spec: { resourceSelectors, ...spec },
  };
}
const to = (...clusterNames: string[]) => ({ placement: { clusterAffinity: { clusterNames } } });
const configMap = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: inTeam(name) });

const decided = (name: string, test: (spec: ResourceBinding['spec']) => boolean) =>
  untilObject(hub, RESOURCE_BINDINGS, inTeam(name), (binding) => binding !== undefined && test(binding.spec));
const clustersOf = ({ clusters = [] }: ResourceBinding['spec']) => clusters.map(({ name }) => name).join();
/** Whether a binding says anything about a cluster, in whatever part of it. */
const namesCluster = (binding: ResourceBinding | undefined, cluster: string): boolean =>
  JSON.stringify([binding?.metadata.annotations, binding?.spec, binding?.status]).includes(cluster);
const whyNot = (spec: ResourceBinding['spec'] | undefined, cluster: string) =>
  spec?.decisions?.find((decision) => decision.cluster === cluster);
const isIn = (cluster: string, type: ResourceType, name: string, there = true) =>
  untilObject(members.get(cluster)!.client, type, inTeam(name), (object) => (object !== undefined) === there);
const authorOf = async (name: string): Promise<string> => {
  const { metadata } = await hub.resource(PROPAGATION_POLICIES).get(inTeam(name));
  return JSON.parse(metadata.annotations?.[AUTHOR_ANNOTATION] ?? '{}').username;
};
const forbiddenTo =
  (verb: string, user: string, resource: string, ...more: string[]) =>
  (error: unknown) => {
    const { code, status } = error as { code: number; status: { reason: string; message: string } };
    assert.equal(code, 403);
    assert.equal(status.reason, 'Forbidden');
    for (const words of [`User "${user}" cannot ${verb} resource "${resource}"`, ...more])
      assert.ok(status.message.includes(words), status.message);
    return true;
  };

describe('to place takes a right', () => {
  test('on each cluster that a policy names: the answer says which is missing', async () => {
    const policies = eve.resource(PROPAGATION_POLICIES);
    const onOne = forbiddenTo('place', 'eve', 'clusters', 'named "edge-1"', 'API group "asterism.dev"');
    await assert.rejects(policies.create(policy('named', to('edge-1'))), onOne);
    const onAny = forbiddenTo('place', 'eve', 'clusters', 'propagationpolicies.asterism.dev "open" is forbidden');
    await assert.rejects(policies.create(policy('open')), onAny);
    const partly = forbiddenTo('place', 'tom', 'clusters', 'named "edge-2"');
    await assert.rejects(tom.resource(PROPAGATION_POLICIES).create(policy('both', to('edge-1', 'edge-2'))), partly);
    const groups = {
      placement: {
        clusterAffinities: [
          { affinityName: 'a', clusterNames: ['edge-1'] },
          { affinityName: 'b', clusterNames: ['edge-2'] },
        ],
      },
    };
    await assert.rejects(tom.resource(PROPAGATION_POLICIES).create(policy('groups', groups)), partly);
  });

  test('a policy that names no cluster reaches those where its author may place, and only counts the others', async () => {
    await tom.resource(CONFIG_MAPS).create(configMap('wide'));
    await tom.resource(PROPAGATION_POLICIES).create(policy('wide'));
    const binding = await decided('wide-configmap', (spec) => clustersOf(spec) === 'edge-1');
    assert.equal(namesCluster(binding, 'edge-2'), false);
    assert.deepEqual(binding?.spec.hiddenClusters, {
      count: 1,
      message:
        '1 more cluster is not shown: no right to place there (user "tom" needs verb place on clusters.asterism.dev)',
    });
    assert.equal(binding?.spec.authority, 'user "tom"');
    await isIn('edge-1', CONFIG_MAPS, 'wide');
  });

  test('a right that is given places at once; one that is taken away removes what was placed by it', async () => {
    await apply(hub, [clusterBound(PLACE_ROLE, 'tom')]);
    const wide = await decided('wide-configmap', (spec) => clustersOf(spec) === 'edge-1,edge-2');
    assert.equal(wide?.spec.hiddenClusters, undefined);
    await isIn('edge-2', CONFIG_MAPS, 'wide');
    await hub.resource(CLUSTER_ROLE_BINDINGS).delete({ name: 'asterism-place-tom' });
    await decided('wide-configmap', (spec) => clustersOf(spec) === 'edge-1');
    await isIn('edge-2', CONFIG_MAPS, 'wide', false);
    await hub.resource(CLUSTER_ROLE_BINDINGS).delete({ name: 'place-edge-1-tom' });
    const binding = await decided(
      'wide-configmap',
      (spec) => clustersOf(spec) === '' && spec.unschedulable !== undefined,
    );
    const { reason, message = '' } = binding?.spec.unschedulable ?? {};
    assert.equal(reason, 'NoClusterFit');
    assert.equal(
      message,
      'none of 2 clusters can take it: 2 by NotPermitted (user "tom" needs verb place on clusters.asterism.dev)',
    );
    await isIn('edge-1', CONFIG_MAPS, 'wide', false);
    await untilObject(
      hub,
      RESOURCE_BINDINGS,
      inTeam('wide-configmap'),
      (each) => !!each && !namesCluster(each, 'edge-'),
    );
    await apply(hub, [clusterBound('place-edge-1', 'tom')]);
    await isIn('edge-1', CONFIG_MAPS, 'wide');
  });

  test('the author is who wrote the spec, whatever the object says', async () => {
    const forged = policy('forged', to('edge-1'));
    forged.metadata.annotations = {
      [AUTHOR_ANNOTATION]: JSON.stringify({ username: 'admin', groups: ['asterism:admins'] }),
    };
    const created = await tom.resource(PROPAGATION_POLICIES).create(forged);
    const { username, groups } = JSON.parse(created.metadata.annotations?.[AUTHOR_ANNOTATION] ?? '');
    assert.deepEqual([username, groups], ['tom', ['team-a', 'system:authenticated']]);
    const again = { metadata: { annotations: forged.metadata.annotations } };
    await tom.resource(PROPAGATION_POLICIES).patch(inTeam('forged'), { type: 'merge', body: again });
    assert.equal(await authorOf('forged'), 'tom');
    const labelled = { metadata: { labels: { seen: 'yes' } } };
    await hub.resource(PROPAGATION_POLICIES).patch(inTeam('forged'), { type: 'merge', body: labelled });
    assert.equal(await authorOf('forged'), 'tom');
    const takenOver = { metadata: { annotations: { [AUTHOR_ANNOTATION]: null } } };
    await hub.resource(PROPAGATION_POLICIES).patch(inTeam('forged'), { type: 'merge', body: takenOver });
    assert.equal(await authorOf('forged'), 'admin');
  });

  test('the author stays the same however a policy is written again', async () => {
    const policies = tom.resource(PROPAGATION_POLICIES);
    const written = policy('written', to('edge-1'));
    const { resourceVersion } = (await policies.create(written)).metadata;
    await policies.update({ ...written, metadata: { ...written.metadata, resourceVersion } } as never);
    await policies.apply(written, { fieldManager: 'tom', force: true });
    assert.equal(await authorOf('written'), 'tom');
    const labelled = { ...written, metadata: { ...written.metadata, labels: { seen: 'yes' } } };
    const { spec: _, ...labels } = labelled;
    await hub.resource(PROPAGATION_POLICIES).apply(labels as never, { fieldManager: 'admin', force: true });
    assert.equal(await authorOf('written'), 'tom');
    const changed = { ...written, spec: { ...written.spec, priority: 2 } };
    await hub.resource(PROPAGATION_POLICIES).apply(changed, { fieldManager: 'admin', force: true });
    assert.equal(await authorOf('written'), 'admin');
  });

  test('a policy of the cluster needs it too', async () => {
    await apply(hub, [
      clusterRole('cluster-policies', [
        { apiGroups: ['asterism.dev'], resources: ['clusterpropagationpolicies'], verbs: ['*'] },
      ]),
      clusterBound('cluster-policies', 'eve'),
    ]);
    const { spec } = policy('wide-open');
    const wide = {
      apiVersion: API_VERSION,
      kind: 'ClusterPropagationPolicy',
      metadata: { name: 'wide-open' },
      spec,
    } as const;
    const refused = forbiddenTo('place', 'eve', 'clusters', 'clusterpropagationpolicies.asterism.dev "wide-open"');
    await assert.rejects(eve.resource(CLUSTER_PROPAGATION_POLICIES).create(wide), refused);
  });

  test('who changes the policy of another needs it, and so does who takes one over', async () => {
    await hub.resource(PROPAGATION_POLICIES).create(policy('ours', to('edge-2')));
    const edits = eve.resource(PROPAGATION_POLICIES);
    const wider = { spec: { priority: 3 } };
    const refused = forbiddenTo('place', 'eve', 'clusters', 'named "edge-2"');
    await assert.rejects(edits.patch(inTeam('ours'), { type: 'merge', body: wider }), refused);
    const takenOver = { metadata: { annotations: { [AUTHOR_ANNOTATION]: null } } };
    await assert.rejects(edits.patch(inTeam('ours'), { type: 'merge', body: takenOver }), refused);
    await edits.patch(inTeam('ours'), { type: 'merge', body: { metadata: { labels: { seen: 'yes' } } } });
    assert.equal(await authorOf('ours'), 'admin');
  });
});

describe('to place takes the right to read', () => {
  test('what is selected, by name or without', async () => {
    await hub.resource(SECRETS).create({ metadata: inTeam('key'), stringData: { word: 'open' } });
    const secrets = (name?: string) => ({
      ...to('edge-1'),
      resourceSelectors: [{ apiVersion: 'v1', kind: 'Secret', ...(name ? { name } : {}) }],
    });
    for (const name of ['key', undefined]) {
      const named = name ? 'named "key"' : 'in API group "" in the namespace "team-a"';
      const refused = forbiddenTo('get', 'tom', 'secrets', named);
      await assert.rejects(tom.resource(PROPAGATION_POLICIES).create(policy('leak', secrets(name))), refused);
    }
  });

  test('what follows: the rest is placed, and the binding says what is not taken along', async () => {
    await apply(hub, [
      bound('Role', 'deployer', 'tom'),
      role('deployer', [
        { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list', 'create', 'update', 'patch'] },
      ]),
    ]);
    const volumes = [
      { name: 'key', secret: { secretName: 'key' } },
      { name: 'pages', configMap: { name: 'pages' } },
    ];
    const labels = { app: 'web' };
    const spec = { containers: [{ name: 'web', image: 'nginx:1.29' }], volumes };
    await apply(tom, [
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: inTeam('web'),
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
      },
      policy('web', {
        ...to('edge-1'),
        propagateDeps: true,
        resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }],
      }),
    ]);
    await apply(tom, [configMap('pages')]);
    const binding = await decided('web-deployment', ({ withheld }) => withheld !== undefined);
    const follower = await decided('pages-configmap', (spec) => clustersOf(spec) === 'edge-1');
    assert.equal(namesCluster(follower, 'edge-2'), false, 'what only follows names no more than what it follows');
    assert.equal(follower?.spec.hiddenClusters?.count, 1);
    assert.deepEqual(binding?.spec.withheld, [
      {
        apiVersion: 'v1',
        kind: 'Secret',
        name: 'key',
        message: 'user "tom" may not read secrets "key": needs verb get on secrets "key" in namespace "team-a"',
      },
    ]);
    const { items } = await hub.resource(RESOURCE_BINDINGS).list({ namespace: NAMESPACE });
    assert.ok(!items.some((each) => each.spec.resource.kind === 'Secret'));
    await apply(hub, [
      bound('Role', 'key-reader', 'tom'),
      role('key-reader', [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['key'], verbs: ['get'] }]),
    ]);
    await isIn('edge-1', SECRETS, 'key');
    await decided('web-deployment', ({ withheld }) => withheld === undefined);
  });
});

test('a cluster takes only from the namespaces that it accepts, whoever asks', async () => {
  await apply(hub, [configMap('picky'), policy('picky')]);
  await decided('picky-configmap', (spec) => clustersOf(spec) === 'edge-1,edge-2');
  const accept = (acceptNamespaces: string[] | null) =>
    hub
      .resource(CLUSTERS)
      .patch({ name: 'edge-2' }, { type: 'merge', body: { spec: { placement: { acceptNamespaces } } } });
  await accept(['team-b', 'shop-*']);
  const binding = await decided('picky-configmap', (spec) => clustersOf(spec) === 'edge-1');
  assert.equal(whyNot(binding?.spec, 'edge-2')?.reason, 'NamespaceNotAccepted');
  await isIn('edge-2', CONFIG_MAPS, 'picky', false);
  await accept(['team-*']);
  await isIn('edge-2', CONFIG_MAPS, 'picky');
  await accept(null);
});

test('a policy of the namespace takes no guard away from one of the cluster', async () => {
  const selector = [{ apiVersion: 'v1', kind: 'ResourceQuota', name: 'limits' }];
  await apply(hub, [
    {
      apiVersion: API_VERSION,
      kind: 'ClusterPropagationPolicy',
      metadata: { name: 'limits' },
      spec: { resourceSelectors: selector, ...to('edge-1') },
    },
    { apiVersion: 'v1', kind: 'ResourceQuota', metadata: inTeam('limits'), spec: { hard: { pods: '3' } } },
    policy('limits', { resourceSelectors: selector, preemption: 'Always', priority: 9, ...to('edge-2') }),
  ]);
  await isIn('edge-1', RESOURCE_QUOTAS, 'limits');
  const { spec } = await hub.resource(RESOURCE_BINDINGS).get(inTeam('limits-resourcequota'));
  assert.deepEqual([spec.policy?.kind, clustersOf(spec)], ['ClusterPropagationPolicy', 'edge-1']);
  await hub.resource(CLUSTER_PROPAGATION_POLICIES).delete({ name: 'limits' });
});

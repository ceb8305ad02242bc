import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import {
  CLUSTER_ROLES,
  CONFIG_MAPS,
  type ConfigMap,
  type Deployment,
  DEPLOYMENTS,
  findCondition,
  NAMESPACES,
  ROLE_BINDINGS,
  ROLES,
  SECRETS,
} from '@asterism/machinery';
import {
  API_VERSION,
  agentUser,
  CALLERS_ROLE,
  clusterNamespace,
  CLUSTERS,
  OVERRIDE_POLICIES,
  type Overriders,
  PROPAGATION_POLICIES,
  type PropagationPolicy,
  RESOURCE_BINDINGS,
  type ResourceBinding,
  type Work,
  WORKS,
} from '../api/index.ts';
import { deployment } from '../place/testing/build.ts';
import { definitionOf, establish, WIDGETS } from './testing/custom-kind.ts';
import { Fleet } from './testing/fleet.ts';

type Spec = Partial<PropagationPolicy['spec']>;

const ref = (name: string) => ({ namespace: 'demo', name });
const applied = (binding: ResourceBinding | undefined) => findCondition(binding?.status?.conditions, 'FullyApplied');
const scheduled = (binding: ResourceBinding | undefined) => findCondition(binding?.status?.conditions, 'Scheduled');

describe('rules of delivery', () => {
  let fleet: Fleet;

  before(async () => {
    fleet = await Fleet.start({
      ant: { region: 'eu', serves: ['v1/ConfigMap', 'apps/v1/Deployment', 'example.com/v1/Widget'] },
      bee: { region: 'us', syncMode: 'Pull' },
      cat: { region: 'us', away: true },
    });
    await giveAgentItsRights('bee');
    await fleet.run((name) => fleet.as(agentUser(name)));
  });
  after(() => fleet[Symbol.asyncDispose]());

  /** What an agent may do in the hub: all of it. */
  async function giveAgentItsRights(name: string): Promise<void> {
    const metadata = { name: 'agent', namespace: clusterNamespace(name) };
    await fleet.hub.resource(ROLES).create({
      metadata,
      rules: [
        { apiGroups: ['asterism.dev'], resources: ['works'], verbs: ['get', 'list', 'watch'] },
        { apiGroups: ['asterism.dev'], resources: ['works/status'], verbs: ['patch'] },
      ],
    });
    await fleet.hub.resource(ROLE_BINDINGS).create({
      metadata,
      subjects: [{ kind: 'User', name: agentUser(name), apiGroup: 'rbac.authorization.k8s.io' }],
      roleRef: { kind: 'Role', name: 'agent', apiGroup: 'rbac.authorization.k8s.io' },
    });
  }

  const configMap = (name: string, data: Record<string, string> = { key: 'hub' }): ConfigMap => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'demo' },
    data,
  });

  /** A policy of the same name for the ConfigMap of that name. */
  const place = (name: string, clusterNames: string[], spec: Spec = {}) =>
    fleet.hub.resource(PROPAGATION_POLICIES).create({
      apiVersion: 'asterism.dev/v1alpha1',
      kind: 'PropagationPolicy',
      metadata: { name, namespace: 'demo' },
      spec: {
        resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap', name }],
        placement: { clusterAffinity: { clusterNames } },
        ...spec,
      },
    });

  const stands = (where: string, name: string, key = 'hub') =>
    untilObject(fleet.member(where), CONFIG_MAPS, ref(name), (object) => object?.data?.['key'] === key);
  const gone = (where: string, name: string) =>
    untilObject(fleet.member(where), CONFIG_MAPS, ref(name), (object) => object === undefined);
  const binding = (name: string, test: (binding: ResourceBinding | undefined) => boolean) =>
    untilObject(fleet.hub, RESOURCE_BINDINGS, ref(`${name}-configmap`), test);

  test('what stands in a member and is not ours is not taken, unless the policy says so', async () => {
    await fleet
      .member('ant')
      .resource(NAMESPACES)
      .create({ metadata: { name: 'demo' } });
    await fleet
      .member('ant')
      .resource(CONFIG_MAPS)
      .create(configMap('theirs', { key: 'member' }));
    await fleet.hub.resource(CONFIG_MAPS).create(configMap('theirs'));
    await place('theirs', ['ant', 'bee']);
    await stands('bee', 'theirs');
    const refused = await binding(
      'theirs',
      (it) => applied(it)?.status === 'False' && applied(it)?.reason === 'NotApplied',
    );
    assert.equal(applied(refused)?.message, 'applied in 1 of 2 clusters; not in ant');
    const [ant] = refused?.status?.aggregatedStatus ?? [];
    assert.match(
      ant?.appliedMessage ?? '',
      /^ConfigMap demo\/theirs: it exists already and was not placed by Asterism/,
    );
    await stands('ant', 'theirs', 'member');
    const body = { spec: { conflictResolution: 'Overwrite' } };
    await fleet.hub.resource(PROPAGATION_POLICIES).patch(ref('theirs'), { type: 'merge', body });
    await stands('ant', 'theirs');
    await binding('theirs', (it) => applied(it)?.status === 'True');
  });

  test('a label that is taken off comes back, and the object with it', async () => {
    const body = { metadata: { labels: { 'asterism.dev/managed': null } }, data: { key: 'changed' } };
    await fleet.member('ant').resource(CONFIG_MAPS).patch(ref('theirs'), { type: 'merge', body });
    const back = await stands('ant', 'theirs');
    assert.equal(back?.metadata?.labels?.['asterism.dev/managed'], 'demo.theirs-configmap');
  });

  test('a changed policy moves what it placed, and an un-matched template loses it', async () => {
    await fleet.hub.resource(CONFIG_MAPS).create(configMap('mover'));
    await place('mover', ['ant']);
    await stands('ant', 'mover');
    const body = { spec: { placement: { clusterAffinity: { clusterNames: ['bee'] } } } };
    await fleet.hub.resource(PROPAGATION_POLICIES).patch(ref('mover'), { type: 'merge', body });
    await stands('bee', 'mover');
    await gone('ant', 'mover');
    await fleet.hub.resource(PROPAGATION_POLICIES).delete(ref('mover'));
    await gone('bee', 'mover');
    await binding('mover', (it) => it === undefined);
    assert.ok(await fleet.hub.resource(CONFIG_MAPS).get(ref('mover')));
  });

  test('a policy that goes takes along what followed its template, though nobody watches the kinds any more', async () => {
    const { namespace, name } = ref('follower');
    const podSpec = { volumes: [{ name: 'conf', configMap: { name } }] };
    const { uid: _, ...metadata } = deployment(1).metadata ?? {};
    await fleet.hub.resource(CONFIG_MAPS).create(configMap(name));
    await fleet.hub.resource(DEPLOYMENTS).create({ ...deployment(1, { podSpec }), metadata } as Deployment);
    await fleet.hub.resource(PROPAGATION_POLICIES).create({
      apiVersion: API_VERSION,
      kind: 'PropagationPolicy',
      metadata: ref('leader'),
      spec: {
        resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }],
        propagateDeps: true,
        placement: { clusterAffinity: { clusterNames: ['ant'] } },
      },
    });
    await stands('ant', name);
    await fleet.hub.resource(PROPAGATION_POLICIES).deleteCollection({ namespace });
    await gone('ant', name);
    await binding(name, (it) => it === undefined);
    await fleet.hub.resource(DEPLOYMENTS).delete(ref('web'));
  });

  test('what is preserved stays in the members, and is ours no more', async () => {
    await fleet.hub.resource(CONFIG_MAPS).create(configMap('kept'));
    await place('kept', ['ant', 'bee'], { preserveResourcesOnDeletion: true });
    await Promise.all([stands('ant', 'kept'), stands('bee', 'kept')]);
    await fleet.hub.resource(CONFIG_MAPS).delete(ref('kept'));
    await binding('kept', (it) => it === undefined);
    for (const name of ['ant', 'bee']) {
      const { metadata, data } = await fleet.member(name).resource(CONFIG_MAPS).get(ref('kept'));
      assert.equal(metadata?.labels?.['asterism.dev/managed'], undefined);
      assert.deepEqual(data, { key: 'hub' });
    }
  });

  test('an override that cannot be applied holds one cluster back, and says so', async () => {
    await fleet.hub.resource(OVERRIDE_POLICIES).create({
      apiVersion: 'asterism.dev/v1alpha1',
      kind: 'OverridePolicy',
      metadata: { name: 'broken', namespace: 'demo' },
      spec: {
        resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'faulty' }],
        overrideRules: [
          {
            targetCluster: { clusterNames: ['bee'] },
            overriders: { plaintext: [{ path: '/data/nope', operator: 'replace', value: 'x' }] },
          },
        ],
      },
    });
    await fleet.hub.resource(CONFIG_MAPS).create(configMap('faulty'));
    await place('faulty', ['ant', 'bee']);
    await stands('ant', 'faulty');
    const told = await binding('faulty', (it) => applied(it)?.message === 'applied in 1 of 2 clusters; not in bee');
    const bee = told?.status?.aggregatedStatus?.find(({ clusterName }) => clusterName === 'bee');
    assert.equal(
      bee?.appliedMessage,
      'OverridePolicy demo/broken, rule 0, plaintext[0]: there is nothing at /data/nope to replace',
    );
    await fleet.hub.resource(OVERRIDE_POLICIES).delete(ref('broken'));
    await stands('bee', 'faulty');
  });

  const refusals: { name: string; overriders: Overriders; message: RegExp }[] = [
    {
      name: 'member-refuses',
      overriders: { plaintext: [{ path: '/data/key', operator: 'replace', value: { not: 'text' } }] },
      message:
        /^ConfigMap demo\/member-refuses: .*key.* \(changed for this cluster by override policy demo\/member-refuses\)$/,
    },
    {
      name: 'hub-refuses',
      overriders: { plaintext: [{ path: '/metadata/finalizers', operator: 'add', value: { not: 'a list' } }] },
      message:
        /^the hub does not take the Work: .*finalizers.* \(changed for this cluster by override policy demo\/hub-refuses\)$/,
    },
  ];
  for (const { name, overriders, message } of refusals) {
    test(`an object that is not valid in one cluster (${name}): that one says so, the others go on`, async () => {
      await fleet.hub.resource(OVERRIDE_POLICIES).create({
        apiVersion: 'asterism.dev/v1alpha1',
        kind: 'OverridePolicy',
        metadata: { name, namespace: 'demo' },
        spec: {
          resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap', name }],
          overrideRules: [{ targetCluster: { clusterNames: ['bee'] }, overriders }],
        },
      });
      await fleet.hub.resource(CONFIG_MAPS).create(configMap(name));
      await place(name, ['ant', 'bee']);
      await stands('ant', name);
      // Each cluster tells in its own time.
      await binding(name, (it) => {
        const [ant, bee] = it?.status?.aggregatedStatus ?? [];
        return ant?.applied === true && bee?.applied === false && message.test(bee.appliedMessage ?? '');
      });
    });
  }

  test('a member that is away delays nobody, and gets what it missed when it comes', async () => {
    await fleet.hub.resource(CONFIG_MAPS).create(configMap('late'));
    await place('late', ['ant', 'cat']);
    await stands('ant', 'late');
    const waiting = await binding('late', (it) => applied(it)?.message === 'applied in 1 of 2 clusters; not in cat');
    assert.equal(waiting?.status?.aggregatedStatus?.[1]?.appliedMessage, 'the cluster has not applied it yet');
    fleet.arrive('cat');
    await stands('cat', 'late');
    await binding('late', (it) => applied(it)?.status === 'True');
  });

  test('no fit takes nothing away, and says why', async () => {
    const body = { spec: { placement: { clusterAffinity: { clusterNames: ['nobody'] } } } };
    await fleet.hub.resource(PROPAGATION_POLICIES).patch(ref('late'), { type: 'merge', body });
    const kept = await binding('late', (it) => scheduled(it)?.status === 'False');
    assert.equal(scheduled(kept)?.reason, 'NoClusterFit');
    assert.equal(scheduled(kept)?.message, 'none of 3 clusters can take it: 3 by ClusterAffinity');
    assert.deepEqual(kept?.spec.clusters, [{ name: 'ant' }, { name: 'cat' }]);
    await stands('ant', 'late');
  });

  test('a cluster that joins later is taken in, one that leaves lets its Works go', async () => {
    await fleet.join('nobody', {});
    const moved = await binding('late', (it) => scheduled(it)?.status === 'True');
    assert.deepEqual(moved?.spec.clusters, [{ name: 'nobody' }]);
    await gone('ant', 'late');
    await untilObject(
      fleet.hub,
      WORKS,
      { namespace: clusterNamespace('nobody'), name: 'demo.late-configmap' },
      (work) => !!work,
    );
    await fleet.hub.resource(CLUSTERS).delete({ name: 'nobody' });
    await untilObject(
      fleet.hub,
      WORKS,
      { namespace: clusterNamespace('nobody'), name: 'demo.late-configmap' },
      (work) => !work,
    );
  });

  test('a new cluster moves no replica that is divided, and its decision says so', async () => {
    const { uid: _, ...metadata } = deployment(2).metadata ?? {};
    await fleet.hub.resource(DEPLOYMENTS).create({ ...deployment(2), metadata } as never);
    const selector = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
    await place('web', [], {
      resourceSelectors: [selector],
      placement: { clusterAffinity: { exclude: ['cat'] }, replicaScheduling: { replicaSchedulingType: 'Divided' } },
    });
    const webBinding = (test: (it: ResourceBinding | undefined) => boolean) =>
      untilObject(fleet.hub, RESOURCE_BINDINGS, ref('web-deployment'), test);
    await webBinding((it) => it?.spec.clusters?.length === 2);
    await fleet.join('dog', {});
    const decided = await webBinding(
      (it) => it?.spec.decisions?.some(({ cluster: name, reason }) => name === 'dog' && reason === 'Standing') ?? false,
    );
    assert.equal(decided?.spec.clusters?.length, 2);
    await fleet.hub
      .resource(CLUSTERS)
      .patch({ name: 'bee' }, { type: 'merge', body: { spec: { taints: [{ key: 'x', effect: 'NoSchedule' }] } } });
    await fleet.hub.resource(DEPLOYMENTS).patch(ref('web'), { type: 'merge', body: { spec: { replicas: 3 } } });
    const scaled = await webBinding((it) => it?.spec.clusters?.length === 3);
    assert.deepEqual(
      scaled?.spec.clusters?.map(({ name }) => name),
      ['ant', 'bee', 'dog'],
      'a target is not driven out by NoSchedule',
    );
  });

  test('a kind that comes to be served is placed', async () => {
    await place('widget', ['ant'], { resourceSelectors: [{ apiVersion: 'example.com/v1', kind: 'Widget' }] });
    const widget = {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'w', namespace: 'demo' },
      size: 3,
    };
    for (const client of [fleet.member('ant'), fleet.hub]) await establish(client, definitionOf(WIDGETS));
    await fleet.hub.resource(WIDGETS).create(widget);
    const placed = await untilObject(fleet.member('ant'), WIDGETS, ref('w'), (it) => it !== undefined);
    assert.equal(placed?.['size'], 3);
  });

  test('the hub keeps to itself what is its own', async () => {
    const secret = { metadata: { name: 'token', namespace: clusterNamespace('ant') }, stringData: { token: 'x' } };
    await fleet.hub.resource(SECRETS).create(secret);
    await fleet.hub.resource(CONFIG_MAPS).create(configMap('marker'));
    await place('all', ['ant'], { resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'marker' }] });
    await stands('ant', 'marker');
    const bindings = await fleet.hub.resource(RESOURCE_BINDINGS).list();
    assert.ok(bindings.items.every(({ metadata }) => metadata.namespace === 'demo'));
  });

  test('nobody writes by a Work as whom its executor may come to the member', async () => {
    const ref = { namespace: clusterNamespace('ant'), name: 'by-hand' };
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: CALLERS_ROLE },
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
    };
    const work = { apiVersion: API_VERSION, kind: 'Work', metadata: ref, spec: { manifests: [role] } } satisfies Work;
    await fleet.hub.resource(WORKS).create(work);
    const told = await untilObject(fleet.hub, WORKS, ref, (it) => it?.status?.manifestStatuses?.length === 1);
    const [status] = told?.status?.manifestStatuses ?? [];
    assert.equal(status?.applied, false);
    assert.match(status?.message ?? '', /is kept by Asterism itself/);
    await assert.rejects(fleet.member('ant').resource(CLUSTER_ROLES).get({ name: CALLERS_ROLE }), { code: 404 });
  });

  test('an agent reaches its own Works and nothing else', async () => {
    const agent = fleet.as(agentUser('bee'));
    const works = agent.resource(WORKS);
    await assert.rejects(works.list({ namespace: clusterNamespace('ant') }), { code: 403 });
    const own = { namespace: clusterNamespace('bee'), name: 'demo.marker-configmap' };
    await assert.rejects(works.patch(own, { type: 'merge', body: { spec: { manifests: [] } } }), { code: 403 });
    await assert.rejects(agent.resource(CLUSTERS).list(), { code: 403 });
    const work = {
      apiVersion: API_VERSION,
      kind: 'Work',
      metadata: { name: 'x', namespace: clusterNamespace('bee') },
    } as const;
    await assert.rejects(works.create({ ...work, spec: { manifests: [] } }), { code: 403 });
  });
});

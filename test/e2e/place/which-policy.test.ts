import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type PropagationPolicy, RESOURCE_BINDINGS, type ResourceBinding } from '@asterism/fleet/api';
import {
  CONFIG_MAPS,
  DEPLOYMENTS,
  type KubeObject,
  NAMESPACES,
  PERSISTENT_VOLUME_CLAIMS,
  SECRETS,
  SERVICE_ACCOUNTS,
} from '@asterism/machinery';
import { describePlacing } from '../../cluster/placing/describe-placing.ts';
import { only, Scene, selectorOf } from '../../cluster/placing/scene.ts';
import { selectingNothing } from './selecting-nothing.ts';

/** Everything that a policy says but where things go. */
describePlacing('which policy, and when', {}, (fleet) => {
  let scene: Scene;
  before(async () => {
    scene = await Scene.open(fleet(), 'policies');
  });

  const placedBy = (name: string, policy: string, where: string[]): Promise<ResourceBinding> =>
    scene.binding(name, ({ spec }) => spec.policy?.name === policy && namesOf(spec) === where.join());

  test('templates are selected by kind, namespace, name and labels, and let go when they are no more', async () => {
    const chosen = { labels: { chosen: 'yes' } };
    await scene.apply(
      scene.configMap('named'),
      scene.configMap('labelled', chosen),
      scene.configMap('expressed', { labels: { expressed: 'yes' } }),
      scene.configMap('neither', { labels: { expressed: 'no' } }),
      scene.clusterPolicy('chosen', {
        resourceSelectors: [
          { apiVersion: 'v1', kind: 'ConfigMap', namespace: scene.namespace, name: 'named' },
          {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            namespace: scene.namespace,
            labelSelector: { matchLabels: chosen.labels },
          },
          { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'elsewhere' },
          {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            labelSelector: {
              matchExpressions: [
                { key: 'expressed', operator: 'Exists' },
                { key: 'chosen', operator: 'DoesNotExist' },
                { key: 'expressed', operator: 'In', values: ['yes', 'no'] },
                { key: 'expressed', operator: 'NotIn', values: ['no'] },
              ],
            },
          },
        ],
        placement: only('cedar'),
      }),
    );
    for (const name of ['named', 'labelled', 'expressed']) await scene.inMember('cedar', CONFIG_MAPS, name);
    await scene.assertStands('neither', [], ['cedar']);
    await scene.kubectl('label', 'configmap', 'labelled', 'chosen-');
    await scene.goneFrom('cedar', CONFIG_MAPS, 'labelled');
    await scene.assertStands('named', ['cedar'], ['cedar']);
  });

  test('of several that select one template: of the namespace, then by priority, then the more precise', async () => {
    const labels = { of: 'many' };
    const byLabel = { apiVersion: 'v1', kind: 'ConfigMap', labelSelector: { matchLabels: labels } };
    const map = (name: string): KubeObject => scene.configMap(name, { labels });
    await scene.apply(
      scene.clusterPolicy('any', { resourceSelectors: [byLabel], placement: only('oak'), priority: 9 }),
      scene.policy('by-label', { resourceSelectors: [byLabel], placement: only('alder') }),
      scene.policy('by-name', { resourceSelectors: [selectorOf(map('precise'))], placement: only('cedar') }),
      scene.policy('first', {
        resourceSelectors: [selectorOf(map('urgent'))],
        placement: only('birch'),
        priority: 1,
      }),
      scene.policy('second', { resourceSelectors: [selectorOf(map('urgent'))], placement: only('oak') }),
    );
    await scene.apply(map('plain'), map('precise'), map('urgent'));
    await placedBy('plain-configmap', 'by-label', ['alder']);
    await placedBy('precise-configmap', 'by-name', ['cedar']);
    await placedBy('urgent-configmap', 'first', ['birch']);
  });

  test('two that fight for one template: it has one of them, and nothing moves', async () => {
    const map = scene.configMap('fought-over');
    const rival = (name: string, cluster: string): KubeObject =>
      scene.policy(name, { resourceSelectors: [selectorOf(map)], preemption: 'Always', placement: only(cluster) });
    await scene.apply(map, rival('left', 'alder'));
    await placedBy('fought-over-configmap', 'left', ['alder']);
    await scene.apply(rival('right', 'oak'));
    const before = await scene.placed('fought-over-configmap', ['alder']);
    // Each has its say again and again; what follows in the same queues shows that all of it was heard.
    for (const round of ['1', '2', '3']) {
      for (const name of ['left', 'right']) await scene.kubectl('label', 'pp', name, `round=${round}`, '--overwrite');
      await scene.kubectl('label', 'configmap', 'fought-over', `round=${round}`, '--overwrite');
      await scene.inMember(
        'alder',
        CONFIG_MAPS,
        'fought-over',
        ({ metadata }) => metadata?.labels?.['round'] === round,
      );
    }
    const after = await scene.fleet.client.resource(RESOURCE_BINDINGS).get(scene.ref('fought-over-configmap'));
    assert.equal(after.metadata.generation, before.metadata.generation);
    await scene.assertStands('fought-over', ['alder'], ['alder', 'birch', 'cedar', 'oak']);
  });

  test('one with a higher priority takes over if it preempts, and not if it does not', async () => {
    const map = scene.configMap('taken');
    const policy = (name: string, priority: number, preemption: 'Always' | 'Never', cluster: string): KubeObject =>
      scene.policy(name, { resourceSelectors: [selectorOf(map)], priority, preemption, placement: only(cluster) });
    await scene.apply(map, policy('holder', 1, 'Never', 'cedar'));
    await placedBy('taken-configmap', 'holder', ['cedar']);
    await scene.apply(policy('patient', 5, 'Never', 'alder'), policy('bold', 3, 'Always', 'oak'));
    await placedBy('taken-configmap', 'bold', ['oak']);
    await scene.goneFrom('cedar', CONFIG_MAPS, 'taken');
    await scene.delete(policy('bold', 3, 'Always', 'oak'));
    await placedBy('taken-configmap', 'patient', ['alder']);
  });

  test('a changed policy moves what it placed; a Lazy one waits for the template', async () => {
    const [eager, lazy] = [scene.configMap('eager'), scene.configMap('lazy')];
    const activationPreference = 'Lazy' as const;
    await scene.apply(scene.policyFor(lazy, { activationPreference, placement: only('cedar') }));
    await scene.apply(eager, lazy, scene.policyFor(eager, { placement: only('cedar') }));
    for (const name of ['eager', 'lazy']) await scene.placed(`${name}-configmap`, ['cedar']);
    await scene.apply(
      scene.policyFor(lazy, { activationPreference, placement: only('oak') }),
      scene.policyFor(eager, { placement: only('oak') }),
    );
    await scene.placed('eager-configmap', ['oak']);
    await scene.goneFrom('cedar', CONFIG_MAPS, 'eager');
    await scene.assertStands('lazy', ['cedar'], ['cedar', 'oak']);
    await scene.apply(scene.configMap('lazy', { data: { from: 'hub, changed' } }));
    await scene.placed('lazy-configmap', ['oak']);
    await scene.goneFrom('cedar', CONFIG_MAPS, 'lazy');
  });

  test('suspended scheduling: what is new waits, what is placed stays, and one is let go by its binding', async () => {
    const [one, two] = [scene.configMap('held-one'), scene.configMap('held-two')];
    const held = (scheduling: boolean): KubeObject =>
      scene.policy('held', {
        resourceSelectors: [one, two].map(selectorOf),
        suspension: { scheduling },
        placement: only('cedar'),
      });
    await scene.apply(held(true), one, two);
    for (const name of ['held-one', 'held-two']) {
      await scene.binding(`${name}-configmap`, ({ spec }) => spec.unschedulable?.reason === 'SchedulingSuspended');
    }
    const release = '{"spec":{"suspension":{"scheduling":false}}}';
    await scene.kubectl('patch', 'rb', 'held-one-configmap', '--type=merge', '-p', release);
    await scene.placed('held-one-configmap', ['cedar']);
    await scene.assertStands('held-two', [], ['cedar']);
    await scene.apply(held(false));
    await scene.placed('held-two-configmap', ['cedar']);
  });

  test('a policy that depends on override policies: nothing is placed before they are there', async () => {
    const map = scene.configMap('dependent');
    await scene.apply(map, scene.policyFor(map, { dependentOverrides: ['marked'], placement: only('cedar') }));
    await scene.binding('dependent-configmap', ({ spec }) => spec.unschedulable?.reason === 'AwaitsOverrides');
    await scene.assertStands('dependent', [], ['cedar']);
    const labelsOverrider = [{ operator: 'add' as const, value: { marked: 'yes' } }];
    await scene.apply(
      scene.override('marked', {
        resourceSelectors: [selectorOf(map)],
        overrideRules: [{ overriders: { labelsOverrider } }],
      }),
    );
    await scene.inMember('cedar', CONFIG_MAPS, 'dependent', ({ metadata }) => metadata?.labels?.['marked'] === 'yes');
  });

  test('suspended dispatching: nothing is written to a cluster that is held back, whatever changes there or here', async () => {
    const map = (text: string): KubeObject => scene.configMap('still', { data: { text } });
    type Suspension = NonNullable<PropagationPolicy['spec']['suspension']>;
    const policy = (suspension: Suspension): KubeObject =>
      scene.policyFor(map(''), { suspension, placement: only('cedar', 'oak') });
    const says = (cluster: string, text: string): Promise<KubeObject> =>
      scene.inMember(cluster, CONFIG_MAPS, 'still', ({ data }) => data?.['text'] === text);
    await scene.apply(policy({ dispatching: true }), map('one'));
    await scene.binding('still-configmap', ({ status }) => status?.aggregatedStatus?.length === 2);
    await scene.assertStands('still', [], ['cedar', 'oak']);
    await scene.apply(policy({ dispatchingOnClusters: { clusterNames: ['oak'] } }));
    await says('cedar', 'one');
    await scene.assertStands('still', [], ['oak']);
    await scene.apply(policy({}));
    await says('oak', 'one');
    await scene.apply(policy({ dispatchingOnClusters: { clusterNames: ['oak'] } }), map('two'));
    await says('cedar', 'two');
    const { data } = await scene.inMember('oak', CONFIG_MAPS, 'still');
    assert.deepEqual(data, { text: 'one' });
    await scene.apply(policy({ dispatching: false }));
    await says('oak', 'two');
  });

  test('what a workload names goes with it, and goes when it goes', async () => {
    const needs = ['settings', 'password', 'claim', 'account', 'registry', 'mirror'];
    const [settings = '', password = '', claim = '', account = '', registry = '', mirror = ''] = needs;
    const app = scene.deployment('needy', 1);
    const volumes = [
      { name: 'a', configMap: { name: settings } },
      { name: 'b', secret: { secretName: password } },
      { name: 'c', persistentVolumeClaim: { claimName: claim } },
    ];
    const pods = { volumes, serviceAccountName: account, imagePullSecrets: [{ name: registry }] };
    const spec = app['spec'] as { template: { spec: object } };
    const needy = {
      ...app,
      spec: { ...spec, template: { ...spec.template, spec: { ...spec.template.spec, ...pods } } },
    };
    await scene.apply(
      scene.configMap(settings),
      secret(scene, password),
      secret(scene, registry),
      secret(scene, mirror),
      {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: scene.ref(account),
        imagePullSecrets: [{ name: mirror }],
      },
      volumeClaim(scene, claim),
      needy,
      scene.policyFor(needy, { propagateDeps: true, placement: only('alder', 'oak') }),
    );
    const kinds = [
      [CONFIG_MAPS, settings],
      [SECRETS, password],
      [SECRETS, registry],
      [SECRETS, mirror],
      [PERSISTENT_VOLUME_CLAIMS, claim],
      [SERVICE_ACCOUNTS, account],
    ] as const;
    for (const cluster of ['alder', 'oak']) {
      await scene.inMember(cluster, DEPLOYMENTS, 'needy');
      for (const [type, name] of kinds) await scene.inMember<KubeObject>(cluster, type, name);
    }
    const followed = await scene.placed(`${settings}-configmap`, ['alder', 'oak']);
    assert.deepEqual(
      followed.spec.requiredBy?.map(({ name }) => name),
      ['needy'],
    );
    await scene.kubectl('delete', 'deployment', 'needy');
    for (const cluster of ['alder', 'oak']) {
      for (const [type, name] of kinds) {
        // A claim that a pod uses is protected by its cluster until that is gone.
        if (type !== PERSISTENT_VOLUME_CLAIMS) await scene.goneFrom<KubeObject>(cluster, type, name);
      }
    }
  });

  test('what stands there already stays, and is taken over where the policy says so', async () => {
    const map = scene.configMap('contested');
    for (const cluster of ['cedar', 'oak']) {
      const namespace = { metadata: { name: scene.namespace } };
      await scene.fleet
        .member(cluster)
        .resource(NAMESPACES)
        .apply({ apiVersion: 'v1', kind: 'Namespace', ...namespace }, { fieldManager: 'test' });
      await scene.fleet
        .member(cluster)
        .resource(CONFIG_MAPS)
        .create({ metadata: scene.ref('contested'), data: { from: 'member', own: 'x' } });
    }
    await scene.apply(map, scene.policyFor(map, { conflictResolution: 'Abort', placement: only('cedar', 'oak') }));
    const refused = await scene.binding(
      'contested-configmap',
      ({ status }) =>
        (status?.aggregatedStatus ?? []).length === 2 &&
        status!.aggregatedStatus!.every(({ appliedMessage }) => appliedMessage?.includes('Overwrite')),
    );
    assert.deepEqual(
      refused.status?.aggregatedStatus?.map(({ applied }) => applied),
      [false, false],
    );
    await scene.inMember('oak', CONFIG_MAPS, 'contested', ({ data }) => data?.['from'] === 'member');
    await scene.apply(scene.policyFor(map, { conflictResolution: 'Overwrite', placement: only('cedar', 'oak') }));
    for (const cluster of ['cedar', 'oak']) {
      const live = await scene.inMember(cluster, CONFIG_MAPS, 'contested', ({ data }) => data?.['from'] === 'hub');
      assert.equal(live.data?.['own'], 'x', 'what the template does not say stays the member’s');
    }
    await scene.placed('contested-configmap', ['cedar', 'oak']);
  });

  test('what is preserved stays in the members when template and policy go, and is theirs', async () => {
    const map = scene.configMap('preserved');
    const policy = scene.policyFor(map, { preserveResourcesOnDeletion: true, placement: only('cedar', 'oak') });
    await scene.apply(map, policy);
    await scene.placed('preserved-configmap', ['cedar', 'oak']);
    await scene.delete(map, policy);
    for (const cluster of ['cedar', 'oak']) {
      const live = await scene.inMember(
        cluster,
        CONFIG_MAPS,
        'preserved',
        ({ metadata }) => metadata?.labels === undefined,
      );
      assert.deepEqual(live.data, { from: 'hub' });
    }
  });

  selectingNothing(fleet, 'everything');
});

function namesOf({ clusters = [] }: ResourceBinding['spec']): string {
  return clusters.map(({ name }) => name).join();
}

function secret(scene: Scene, name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Secret', metadata: scene.ref(name), stringData: { word: 'of pass' } };
}

function volumeClaim(scene: Scene, name: string): KubeObject {
  const resources = { requests: { storage: '1Gi' } };
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: scene.ref(name),
    spec: { accessModes: ['ReadWriteOnce'], resources },
  };
}

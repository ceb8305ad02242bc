import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Placement } from '@asterism/fleet/api';
import { DEPLOYMENTS } from '@asterism/machinery';
import { rowsOf } from '../../cluster/kubectl.ts';
import { runAster } from '../../cluster/aster.ts';
import { describePlacing } from '../../cluster/placing/describe-placing.ts';
import { Scene } from '../../cluster/placing/scene.ts';

const ALL = ['alder', 'birch', 'cedar', 'oak'];

/** A ConfigMap's placement, and where it then stands. */
const AFFINITIES: Readonly<Record<string, [Placement, readonly string[]]>> = {
  'by-default': [{}, ALL],
  names: [{ clusterAffinity: { clusterNames: ['oak', 'alder'] } }, ['alder', 'oak']],
  exclude: [{ clusterAffinity: { exclude: ['oak', 'birch'] } }, ['alder', 'cedar']],
  labels: [{ clusterAffinity: { labelSelector: { matchLabels: { tier: 'production' } } } }, ['alder', 'cedar']],
  'label-in': [labelled('grade', 'In', 'gold', 'silver'), ['alder']],
  'label-not-in': [labelled('grade', 'NotIn', 'gold'), ['birch', 'cedar', 'oak']],
  'label-exists': [labelled('grade', 'Exists'), ['alder', 'birch', 'cedar']],
  'label-is-absent': [labelled('grade', 'DoesNotExist'), ['oak']],
  'provider-in': [fielded('provider', 'In', 'acme'), ['alder', 'birch']],
  'region-not-in': [fielded('region', 'NotIn', 'us', 'oak-region'), ['alder', 'cedar']],
  'zone-in': [fielded('zone', 'In', 'eu-b', 'us-a'), ['birch', 'cedar']],
  'provider-exists': [fielded('provider', 'Exists'), ['alder', 'birch', 'cedar']],
  'zone-is-absent': [fielded('zone', 'DoesNotExist'), ['oak']],
  'all-must-hold': [
    { clusterAffinity: { clusterNames: ['alder', 'birch', 'oak'], labelSelector: { matchLabels: { grade: 'iron' } } } },
    ['birch'],
  ],
  'first-group-that-fits': [
    {
      clusterAffinities: [
        { affinityName: 'none', clusterNames: ['nowhere'] },
        { affinityName: 'edge', ...fielded('provider', 'In', 'edge').clusterAffinity },
        { affinityName: 'any', exclude: ['oak'] },
      ],
    },
    ['cedar'],
  ],
  'spread-by-cluster': [
    { spreadConstraints: [{ spreadByField: 'cluster', minGroups: 1, maxGroups: 2 }] },
    ALL.slice(0, 2),
  ],
  'spread-by-region': [
    {
      spreadConstraints: [
        { spreadByField: 'region', minGroups: 2, maxGroups: 2 },
        { spreadByField: 'cluster', minGroups: 2, maxGroups: 2 },
      ],
      clusterAffinity: { exclude: ['oak'] },
    },
    ['alder', 'birch'],
  ],
  'spread-by-zone': [{ spreadConstraints: [{ spreadByField: 'zone', minGroups: 3 }] }, ['alder', 'birch', 'cedar']],
  'spread-by-provider': [
    {
      spreadConstraints: [{ spreadByField: 'provider', minGroups: 1, maxGroups: 1 }],
      clusterAffinity: { exclude: ['birch'] },
    },
    ['alder'],
  ],
  'spread-by-label': [
    {
      spreadConstraints: [
        { spreadByLabel: 'grade', minGroups: 2, maxGroups: 2 },
        { spreadByField: 'cluster', minGroups: 2, maxGroups: 2 },
      ],
    },
    ['alder', 'birch'],
  ],
};

/** Replicas of pods of so much CPU, their placement, and who then has how many. */
const DIVISIONS: Readonly<Record<string, [[number, string], Placement, Readonly<Record<string, number>>]>> = {
  duplicated: [
    [2, '10m'],
    { clusterAffinity: { clusterNames: ['alder', 'oak'] }, replicaScheduling: { replicaSchedulingType: 'Duplicated' } },
    { alder: 2, oak: 2 },
  ],
  'evenly-divided': [
    [4, '10m'],
    { clusterAffinity: { clusterNames: ['alder', 'oak'] }, replicaScheduling: { replicaSchedulingType: 'Divided' } },
    { alder: 2, oak: 2 },
  ],
  'by-static-weights': [
    [6, '10m'],
    {
      clusterAffinity: { clusterNames: ['alder', 'birch', 'oak'] },
      replicaScheduling: {
        replicaSchedulingType: 'Divided',
        replicaDivisionPreference: 'Weighted',
        weightPreference: {
          staticWeightList: [
            { targetCluster: { clusterNames: ['alder'] }, weight: 2 },
            { targetCluster: { labelSelector: { matchLabels: { tier: 'staging' } } }, weight: 0 },
            { targetCluster: { clusterNames: ['oak'] }, weight: 1 },
          ],
        },
      },
    },
    { alder: 4, oak: 2 },
  ],
  'by-room': [
    [10, '1'],
    {
      clusterAffinity: { clusterNames: ['alder', 'cedar'] },
      replicaScheduling: {
        replicaDivisionPreference: 'Weighted',
        weightPreference: { dynamicWeight: 'AvailableReplicas' },
      },
    },
    { alder: 2, cedar: 8 },
  ],
  aggregated: [
    [5, '1'],
    {
      clusterAffinity: { clusterNames: ['alder', 'birch', 'cedar'] },
      replicaScheduling: { replicaSchedulingType: 'Divided', replicaDivisionPreference: 'Aggregated' },
    },
    { cedar: 5 },
  ],
  overflowing: [
    [3, '5'],
    {
      clusterAffinities: [
        {
          affinityName: 'home',
          clusterNames: ['alder'],
          overflowAffinities: [
            { affinityName: 'abroad', exclude: ['birch', 'oak'] },
            { affinityName: 'last', clusterNames: ['oak'] },
          ],
        },
      ],
      replicaScheduling: { replicaSchedulingType: 'Divided', replicaDivisionPreference: 'Aggregated' },
    },
    { alder: 1, cedar: 2 },
  ],
  'strictly-spread': [
    [4, '10m'],
    {
      clusterAffinity: { clusterNames: ['alder', 'cedar'] },
      spreadConstraints: [{ spreadByField: 'cluster', minGroups: 1, maxGroups: 1 }],
      strictSpread: true,
      replicaScheduling: {
        replicaSchedulingType: 'Divided',
        weightPreference: {
          staticWeightList: ['alder', 'cedar'].map((name) => ({ targetCluster: { clusterNames: [name] }, weight: 1 })),
        },
      },
    },
    { cedar: 4 },
  ],
};

/** Everything that `placement` says. */
describePlacing('which clusters', {}, (fleet) => {
  let scene: Scene;

  before(async () => {
    scene = await Scene.open(fleet(), 'which');
    const placed = Object.entries(AFFINITIES).flatMap(([name, [placement]]) => {
      const template = scene.configMap(name);
      return [template, scene.policyFor(template, { placement })];
    });
    const divided = Object.entries(DIVISIONS).flatMap(([name, [[replicas, cpu], placement]]) => {
      const template = scene.deployment(name, replicas, cpu);
      return [template, scene.policyFor(template, { placement })];
    });
    await scene.apply(...placed, ...divided);
  });

  for (const [name, [, where]] of Object.entries(AFFINITIES)) {
    test(`${name.replaceAll('-', ' ')}: ${where.join(', ')}`, async () => {
      const { spec } = await scene.placed(`${name}-configmap`, where);
      await scene.assertStands(name, where, ALL);
      assert.equal(spec.affinityName, name === 'first-group-that-fits' ? 'edge' : undefined);
      assert.deepEqual(spec.decisions?.map(({ cluster }) => cluster).toSorted(), ALL, 'a reason for each cluster');
    });
  }

  for (const [name, [[replicas], , shares]] of Object.entries(DIVISIONS)) {
    const text = Object.entries(shares).map(([cluster, share]) => `${cluster} ${share}`);
    test(`${replicas} replicas ${name.replaceAll('-', ' ')}: ${text.join(', ')}`, async () => {
      await scene.placed(`${name}-deployment`, shares);
      for (const [cluster, share] of Object.entries(shares)) {
        await scene.inMember(cluster, DEPLOYMENTS, name, ({ spec }) => spec?.replicas === share);
      }
    });
  }

  test('aster why tells for every cluster why it is in or out', async () => {
    const why = await runAster(['why', 'deploy/by-static-weights', '-n', scene.namespace], {
      KUBECONFIG: scene.fleet.kubeconfig,
    });
    assert.match(
      why,
      /^Deployment which\/by-static-weights, 6 replicas, placed by PropagationPolicy by-static-weights/,
    );
    const rows = rowsOf(why.slice(why.indexOf('CLUSTER')));
    assert.deepEqual(
      rows.map((row) => [row['CLUSTER'], row['CHOSEN'], row['REPLICAS'], row['REASON']]),
      [
        ['alder', 'yes', '4', 'Selected'],
        ['birch', 'no', '0', 'ZeroWeight'],
        ['cedar', 'no', '0', 'ClusterAffinity'],
        ['oak', 'yes', '2', 'Selected'],
      ],
    );
  });

  describe('of which one is tainted', () => {
    const TOLERATIONS: Readonly<Record<string, [NonNullable<Placement['clusterTolerations']>, boolean]>> = {
      'without-a-toleration': [[], false],
      'the-very-taint': [[{ key: 'lab', operator: 'Equal', value: 'yes', effect: 'NoSchedule' }], true],
      'another-value': [[{ key: 'lab', value: 'no' }], false],
      'another-effect': [[{ key: 'lab', operator: 'Exists', effect: 'PreferNoSchedule' }], false],
      'for-a-time': [[{ key: 'lab', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }], false],
      everything: [[{ operator: 'Exists' }], true],
    };
    const taint = (taints: object[]): Promise<string> =>
      scene.kubectl('patch', 'cluster', 'birch', '--type=merge', '-p', JSON.stringify({ spec: { taints } }));

    before(async () => {
      await scene.placed('by-default-configmap', ALL);
      await taint([{ key: 'lab', value: 'yes', effect: 'NoSchedule' }]);
      const objects = Object.entries(TOLERATIONS).flatMap(([name, [clusterTolerations]]) => {
        const template = scene.configMap(name);
        return [template, scene.policyFor(template, { placement: { clusterTolerations } })];
      });
      await scene.apply(...objects);
    });
    after(() => taint([]));

    for (const [name, [, tolerated]] of Object.entries(TOLERATIONS)) {
      test(`tolerated by ${name.replaceAll('-', ' ')}: ${tolerated ? 'yes' : 'no'}`, async () => {
        const { spec } = await scene.placed(`${name}-configmap`, tolerated ? ALL : ['alder', 'cedar', 'oak']);
        const decision = spec.decisions?.find(({ cluster }) => cluster === 'birch');
        assert.equal(decision?.reason, tolerated ? 'Selected' : 'TaintToleration');
      });
    }

    test('objects that were placed before the taint stay', async () => {
      await scene.placed('everything-configmap', ALL);
      await scene.placed('by-default-configmap', ALL);
    });
  });
});

type Operator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';

function labelled(key: string, operator: Operator, ...values: string[]): Placement {
  return { clusterAffinity: { labelSelector: { matchExpressions: [requirement(key, operator, values)] } } };
}

function fielded(key: 'provider' | 'region' | 'zone', operator: Operator, ...values: string[]) {
  return { clusterAffinity: { fieldSelector: { matchExpressions: [requirement(key, operator, values)] } } };
}

function requirement<Key extends string>(key: Key, operator: Operator, values: string[]) {
  return { key, operator, ...(values.length > 0 ? { values } : {}) };
}

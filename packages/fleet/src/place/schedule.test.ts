import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Cluster, Placement, TargetCluster } from '../api/index.ts';
import { schedule, type ScheduleInput } from './schedule.ts';
import { cluster } from './testing/build.ts';

const template = { apiVersion: 'apps/v1', kind: 'Deployment' };
const divided = (extra: object = {}): Placement => ({
  replicaScheduling: { replicaSchedulingType: 'Divided', ...extra },
});
const weights = (byCluster: Record<string, number>): Placement =>
  divided({
    replicaDivisionPreference: 'Weighted',
    weightPreference: {
      staticWeightList: Object.entries(byCluster).map(([name, weight]) => ({
        targetCluster: { clusterNames: [name] },
        weight,
      })),
    },
  });
const dynamic = divided({ weightPreference: { dynamicWeight: 'AvailableReplicas' } });
const aggregated = divided({ replicaDivisionPreference: 'Aggregated' });

function run(placement: Placement, clusters: Cluster[], extra: Partial<ScheduleInput> = {}) {
  const workload = { replicas: 9, requirements: { cpu: '1' } };
  return schedule({ template, workload, placement, clusters, previous: [], ...extra });
}

const shares = (targets: readonly TargetCluster[]) =>
  targets.map(({ name, replicas }) => `${name}=${replicas}`).join(' ');

describe('schedule', () => {
  const ant = cluster('ant', { region: 'eu' });
  const bee = cluster('bee', { region: 'eu' });
  const cat = cluster('cat', { region: 'us', cpu: '4' });
  const all = [cat, ant, bee];
  const rows: { name: string; placement: Placement; expected: string; extra?: Partial<ScheduleInput> }[] = [
    { name: 'nothing said: all everywhere', placement: {}, expected: 'ant=9 bee=9 cat=9' },
    { name: 'by static weights', placement: weights({ ant: 2, bee: 1 }), expected: 'ant=6 bee=3' },
    { name: 'divided without weights', placement: divided(), expected: 'ant=3 bee=3 cat=3' },
    { name: 'by room', placement: dynamic, expected: 'ant=4 bee=4 cat=1' },
    { name: 'into few', placement: aggregated, expected: 'ant=9' },
    {
      name: 'into those that have it',
      placement: aggregated,
      extra: { previous: [{ name: 'bee', replicas: 2 }] },
      expected: 'bee=9',
    },
    {
      name: 'anew into few: the roomiest, also where others have it',
      placement: aggregated,
      extra: { previous: [{ name: 'cat', replicas: 2 }], fresh: true },
      expected: 'ant=9',
    },
    {
      name: 'more: what is there stays',
      placement: dynamic,
      extra: { previous: [{ name: 'cat', replicas: 4 }] },
      expected: 'ant=2 bee=2 cat=5',
    },
    {
      name: 'fewer: from each by what it has',
      placement: dynamic,
      extra: {
        previous: [
          { name: 'ant', replicas: 12 },
          { name: 'bee', replicas: 6 },
        ],
      },
      expected: 'ant=6 bee=3',
    },
    {
      name: 'one cluster',
      placement: { ...dynamic, spreadConstraints: [{ spreadByField: 'cluster', minGroups: 1, maxGroups: 1 }] },
      expected: 'ant=9',
    },
    {
      name: 'two regions',
      placement: {
        ...dynamic,
        spreadConstraints: [
          { spreadByField: 'region', minGroups: 2 },
          { spreadByField: 'cluster', maxGroups: 2 },
        ],
      },
      expected: 'ant=7 cat=2',
    },
    {
      name: 'no replicas to divide',
      placement: divided(),
      extra: { workload: { replicas: 0, requirements: {} } },
      expected: '',
    },
    {
      name: 'no replicas, everywhere',
      placement: {},
      extra: { workload: { replicas: 0, requirements: {} } },
      expected: 'ant=0 bee=0 cat=0',
    },
    {
      name: 'nothing to divide goes whole',
      placement: dynamic,
      extra: { workload: undefined },
      expected: 'ant=undefined bee=undefined cat=undefined',
    },
  ];
  for (const { name, placement, expected, extra } of rows) {
    test(name, () => {
      const outcome = run(placement, all, extra);
      assert.equal(shares(outcome.clusters), expected);
      assert.equal(outcome.unschedulable, undefined);
      assert.deepEqual(
        outcome.decisions.map((decision) => decision.cluster),
        ['ant', 'bee', 'cat'],
      );
    });
  }

  test('fewer in few: of those that have equally many the first by name stays, not the roomiest', () => {
    const previous = ['a', 'b'].map((name) => ({ name, replicas: 9 }));
    const clusters = [cluster('b'), cluster('a', { cpu: '1' })];
    assert.equal(shares(run(aggregated, clusters, { previous }).clusters), 'a=9');
  });

  test('a spread by any label', () => {
    const racks = [
      cluster('a', { labels: { rack: '1' } }),
      cluster('b', { labels: { rack: '1' } }),
      cluster('c', { labels: { rack: '2' } }),
      cluster('d'),
    ];
    const placement = {
      spreadConstraints: [
        { spreadByLabel: 'rack', minGroups: 2 },
        { spreadByField: 'cluster' as const, maxGroups: 2 },
      ],
    };
    const { clusters, decisions } = run(placement, racks);
    assert.equal(shares(clusters), 'a=9 c=9');
    assert.match(decisions.find((decision) => decision.cluster === 'd')?.message ?? '', /it has no label rack/);
  });

  test('there is a reason with numbers for every cluster', () => {
    const fleet = [
      ant,
      cluster('bad', { taints: [{ key: 'asterism.dev/unreachable', effect: 'NoExecute' }] }),
      cluster('bee'),
      cluster('dog', { serves: ['v1/ConfigMap'] }),
      cluster('eel', { deleting: true }),
      cluster('fox'),
    ];
    const placement = { ...weights({ ant: 2, bee: 1 }), clusterAffinity: { exclude: ['fox'] } };
    const reasons = run(placement, [...fleet, cluster('gnu')]).decisions.map(
      ({ cluster: name, selected, reason, message }) => `${name} ${selected} ${reason}: ${message}`,
    );
    assert.deepEqual(reasons, [
      'ant true Selected: gets 6 of 9 replicas: weight 2 of 3',
      'bad false TaintToleration: the policy does not tolerate its taint asterism.dev/unreachable:NoExecute',
      'bee true Selected: gets 3 of 9 replicas: weight 1 of 3',
      'dog false APIEnablement: it does not serve apps/v1 Deployment',
      'eel false ClusterLeaving: it is leaving the fleet',
      'fox false ClusterAffinity: it is excluded by name',
      'gnu false ZeroWeight: gets none of 9 replicas: no weight rule of the policy gives it a weight',
    ]);
  });

  test('who is left out by spread constraints is told why, with the scores of groups', () => {
    const why = (spreadConstraints: Placement['spreadConstraints'], strictSpread = false) => {
      const { decisions } = run({ ...dynamic, spreadConstraints, strictSpread }, all);
      return decisions.filter(({ selected }) => !selected).map(({ cluster: name, message }) => `${name}: ${message}`);
    };
    assert.deepEqual(why([{ spreadByField: 'cluster', maxGroups: 2 }]), [
      'cat: the spread constraint lets in 2 clusters: others have it already, have more room or come first by name',
    ]);
    assert.deepEqual(why([{ spreadByField: 'region', maxGroups: 1 }, { maxGroups: 1 }]), [
      'bee: its region eu is chosen, but of clusters no more than 1: others have it already, have more room or come first by name',
      'cat: its region us (score 4000) gives way to eu (score 9000)',
    ]);
    assert.deepEqual(why([{ spreadByField: 'region', maxGroups: 1 }], true), [
      'cat: the spread constraints by region are met without it: others have it already, have more room or come first by name',
    ]);
  });

  const previous = [
    { name: 'ant', replicas: 5 },
    { name: 'gone', replicas: 2 },
  ];
  const refusals: { name: string; placement: Placement; clusters?: Cluster[]; reason: string; message: RegExp }[] = [
    {
      name: 'no cluster fits',
      placement: { clusterAffinity: { clusterNames: ['nobody'] } },
      reason: 'NoClusterFit',
      message: /none of 3 clusters can take it: 3 by ClusterAffinity/,
    },
    {
      name: 'no room',
      placement: dynamic,
      clusters: [cluster('ant', { cpu: '1' })],
      reason: 'Unschedulable',
      message: /room for 1 of 4 replicas/,
    },
    {
      name: 'too few clusters',
      placement: { spreadConstraints: [{ spreadByField: 'cluster', minGroups: 4 }] },
      reason: 'Unschedulable',
      message: /3 clusters can take it, but it must be spread over at least 4/,
    },
    {
      name: 'too few regions',
      placement: { spreadConstraints: [{ spreadByField: 'region', minGroups: 3 }] },
      reason: 'Unschedulable',
      message: /in 2 groups by region \(eu, us\)/,
    },
    {
      name: 'a grouping twice',
      placement: {
        spreadConstraints: [{ spreadByField: 'region' }, { spreadByField: 'region', maxGroups: 2 }],
      },
      reason: 'Unschedulable',
      message: /there are two spread constraints by region/,
    },
    {
      name: 'two groupings in one',
      placement: { spreadConstraints: [{ spreadByField: 'region', spreadByLabel: 'b' }] },
      clusters: [cluster('ant', { labels: { b: '1' }, region: 'eu' })],
      reason: 'Unschedulable',
      message: /by field region and by label b/,
    },
    {
      name: 'groupings that contradict each other',
      placement: {
        spreadConstraints: [
          { spreadByField: 'region', maxGroups: 1 },
          { spreadByLabel: 'rack', minGroups: 3 },
        ],
      },
      clusters: [
        cluster('ant', { labels: { rack: '1' }, region: 'eu' }),
        cluster('bee', { labels: { rack: '2' }, region: 'eu' }),
        cluster('cat', { labels: { rack: '3' }, region: 'us' }),
      ],
      reason: 'Unschedulable',
      message: /no choice of clusters is within the bounds by region, label rack/,
    },
    {
      name: 'one affinity and several',
      placement: { clusterAffinity: {}, clusterAffinities: [{ affinityName: 'a' }] },
      reason: 'Unschedulable',
      message: /both clusterAffinity and clusterAffinities/,
    },
    {
      name: 'two groups of one name',
      placement: { clusterAffinities: [{ affinityName: 'a' }, { affinityName: 'a' }] },
      reason: 'Unschedulable',
      message: /two groups a/,
    },
    {
      name: 'overflow of what is not divided',
      placement: { clusterAffinities: [{ affinityName: 'a', overflowAffinities: [{ affinityName: 'b' }] }] },
      reason: 'Unschedulable',
      message: /group a has overflowAffinities/,
    },
    {
      name: 'bounds that contradict',
      placement: { spreadConstraints: [{ spreadByField: 'cluster', minGroups: 3, maxGroups: 2 }] },
      reason: 'Unschedulable',
      message: /at least 3 and at most 2/,
    },
  ];
  for (const { name, placement, clusters = all, reason, message } of refusals) {
    test(`${name}: the last result is kept, but for clusters that are gone`, () => {
      const outcome = run(placement, clusters, { previous });
      assert.equal(shares(outcome.clusters), 'ant=5');
      assert.equal(outcome.unschedulable?.reason, reason);
      assert.match(outcome.unschedulable?.message ?? '', message);
      const kept = outcome.decisions.find((decision) => decision.cluster === 'ant');
      assert.deepEqual([kept?.selected, kept?.reason], [true, 'Kept']);
    });
  }

  test('a cluster that leaves keeps nothing, even where nothing else fits', () => {
    const leaving = [cluster('ant', { deleting: true }), cluster('bee')];
    const outcome = run({ clusterAffinity: { clusterNames: ['ant'] } }, leaving, { previous });
    assert.deepEqual([outcome.clusters, outcome.unschedulable?.reason], [[], 'NoClusterFit']);
  });

  test('a target is not driven out by NoSchedule or by an account that is late', () => {
    const tainted = cluster('ant', { taints: [{ key: 'full', effect: 'NoSchedule' }], serves: [] });
    const placement = weights({ ant: 1, bee: 1 });
    assert.equal(
      shares(run(placement, [tainted, bee], { previous: [{ name: 'ant', replicas: 5 }] }).clusters),
      'ant=5 bee=4',
    );
    assert.equal(shares(run(placement, [tainted, bee]).clusters), 'bee=9');
  });

  test('groups of affinities are tried in order, and the one taken sticks', () => {
    const placement = {
      clusterAffinities: [
        { affinityName: 'first', clusterNames: ['nobody'] },
        { affinityName: 'second', clusterNames: ['bee'] },
        { affinityName: 'third', clusterNames: ['ant'] },
      ],
    };
    assert.deepEqual([run(placement, all).affinityName, shares(run(placement, all).clusters)], ['second', 'bee=9']);
    const later = run(placement, all, { affinityName: 'third' });
    assert.deepEqual([later.affinityName, shares(later.clusters)], ['third', 'ant=9']);
  });

  test('anew begins with the first group of affinities again', () => {
    const placement = {
      clusterAffinities: [
        { affinityName: 'first', clusterNames: ['bee'] },
        { affinityName: 'second', clusterNames: ['ant'] },
      ],
    };
    const extra = { affinityName: 'second', previous: [{ name: 'ant', replicas: 9 }] };
    assert.equal(run(placement, all, extra).affinityName, 'second');
    assert.equal(run(placement, all, { ...extra, fresh: true }).affinityName, 'first');
  });

  test('within replicaScheduling, no type is Divided', () => {
    const placement: Placement = { replicaScheduling: { replicaDivisionPreference: 'Weighted' } };
    assert.equal(shares(run(placement, all).clusters), 'ant=3 bee=3 cat=3');
  });
});

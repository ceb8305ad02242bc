import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Placement, TargetCluster } from '../api/index.ts';
import { schedule, type ScheduleInput } from './schedule.ts';
import { cluster } from './testing/build.ts';

const template = { apiVersion: 'apps/v1', kind: 'Deployment' };
const evenly: Placement['replicaScheduling'] = { replicaSchedulingType: 'Divided' };
const dynamic: Placement['replicaScheduling'] = {
  ...evenly,
  weightPreference: { dynamicWeight: 'AvailableReplicas' },
};
const aggregated: Placement['replicaScheduling'] = { ...evenly, replicaDivisionPreference: 'Aggregated' };

const shares = (targets: readonly TargetCluster[]) =>
  targets.map(({ name, replicas }) => `${name}=${replicas}`).join(' ');

describe('overflow groups', () => {
  const dog = cluster('dog', { cpu: '8' });
  const placement = (replicaScheduling: Placement['replicaScheduling']): Placement => ({
    clusterAffinities: [
      {
        affinityName: 'own',
        clusterNames: ['cat'],
        overflowAffinities: [
          { affinityName: 'near', clusterNames: ['cat', 'dog'] },
          { affinityName: 'far', clusterNames: ['ant', 'dog'] },
        ],
      },
    ],
    ...(replicaScheduling ? { replicaScheduling } : {}),
  });
  const fleet = [cluster('ant'), cluster('bee'), cluster('cat', { cpu: '4' }), dog];
  const spread = (scheduling: Placement['replicaScheduling'], replicas: number, extra: Partial<ScheduleInput> = {}) =>
    schedule({
      template,
      placement: placement(scheduling),
      clusters: fleet,
      workload: { replicas, requirements: { cpu: '1' } },
      previous: [],
      ...extra,
    });

  const cases: { name: string; scheduling: Placement['replicaScheduling']; replicas: number; expected: string }[] = [
    { name: 'what fits stays in the first', scheduling: dynamic, replicas: 4, expected: 'cat=4' },
    {
      name: 'the rest goes to the next',
      scheduling: dynamic,
      replicas: 9,
      expected: 'cat=4 dog=5',
    },
    {
      name: 'and to the one after',
      scheduling: aggregated,
      replicas: 14,
      expected: 'ant=2 cat=4 dog=8',
    },
    { name: 'by static weights too', scheduling: evenly, replicas: 9, expected: 'cat=4 dog=5' },
  ];
  for (const { name, scheduling, replicas, expected } of cases) {
    test(name, () => {
      const { clusters, affinityName, unschedulable } = spread(scheduling, replicas);
      assert.deepEqual([shares(clusters), affinityName, unschedulable], [expected, 'own', undefined]);
    });
  }

  test('more than all can hold is refused', () => {
    const { unschedulable } = spread(dynamic, 29);
    assert.match(unschedulable?.message ?? '', /have room for 28 of 29 replicas/);
  });

  test('the last are given up first', () => {
    const previous = [
      { name: 'ant', replicas: 3 },
      { name: 'cat', replicas: 4 },
      { name: 'dog', replicas: 8 },
    ];
    const full = fleet.map(({ metadata: { name = '' } }) => {
      const before = previous.find((target) => target.name === name)?.replicas ?? 0;
      return cluster(name, {
        cpu: { ant: '16', bee: '16', cat: '4', dog: '8' }[name] ?? '',
        allocated: { cpu: `${before}` },
      });
    });
    assert.equal(shares(spread(dynamic, 6, { clusters: full, previous }).clusters), 'cat=4 dog=2');
  });

  test('take no template without replicas, and say from which group a share comes', () => {
    const { clusters, decisions } = spread(dynamic, 1, { workload: undefined });
    assert.deepEqual(clusters, [{ name: 'cat' }]);
    assert.match(
      decisions.find((decision) => decision.cluster === 'dog')?.message ?? '',
      /not one of the clusters named/,
    );
    const overflown = spread(dynamic, 9).decisions;
    const messages = Object.fromEntries(overflown.map((decision) => [decision.cluster, decision.message]));
    assert.match(messages['dog'] ?? '', /gets 5 of 9 replicas as overflow group 1/);
    assert.match(messages['bee'] ?? '', /cat; nor is it in an overflow group/);
  });
});

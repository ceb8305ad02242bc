import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Placement, TargetCluster } from '../api/index.ts';
import { schedule, type ScheduleInput } from './schedule.ts';
import { cluster } from './testing/build.ts';

const template = { apiVersion: 'apps/v1', kind: 'Deployment', uid: 'uid-of-web' };
const SEEDED = { seed: 20_262, numRuns: 500 };

const dynamic: Placement['replicaScheduling'] = {
  replicaSchedulingType: 'Divided',
  weightPreference: { dynamicWeight: 'AvailableReplicas' },
};
const aggregated: Placement['replicaScheduling'] = {
  replicaSchedulingType: 'Divided',
  replicaDivisionPreference: 'Aggregated',
};
const evenly: Placement['replicaScheduling'] = { replicaSchedulingType: 'Divided' };
const duplicated: Placement['replicaScheduling'] = { replicaSchedulingType: 'Duplicated' };

/** What a filter refuses in a cluster that does not have the template yet; the first two in any. */
const FAULTS = ['leaving', 'excluded', 'tainted', 'lacking'] as const;

const fleets = fc.array(
  fc.record({
    region: fc.constantFrom('eu', 'us', 'ap'),
    rack: fc.constantFrom('1', '2'),
    cpu: fc.nat({ max: 20 }),
    fault: fc.option(fc.constantFrom(...FAULTS), { freq: 3, nil: undefined }),
    had: fc.nat({ max: 8 }),
  }),
  { minLength: 1, maxLength: 10 },
);
type Fleet = typeof fleets extends fc.Arbitrary<infer T> ? T : never;

const nameAt = (index: number): string => `c${index}`;

function clustersOf(fleet: Fleet) {
  return fleet.map(({ region, rack, cpu, fault }, index) =>
    cluster(nameAt(index), {
      region,
      labels: { rack },
      cpu: `${cpu}`,
      deleting: fault === 'leaving',
      ...(fault === 'tainted' ? { taints: [{ key: 'x', effect: 'NoSchedule' as const }] } : {}),
      ...(fault === 'lacking' ? { serves: ['v1/ConfigMap'] } : {}),
    }),
  );
}

function targetsOf(fleet: Fleet): TargetCluster[] {
  return fleet.flatMap(({ had }, index) => (had > 0 ? [{ name: nameAt(index), replicas: had }] : []));
}

function inputOf(fleet: Fleet, placement: Placement, replicas: number): ScheduleInput {
  const exclude = fleet.flatMap(({ fault }, index) => (fault === 'excluded' ? [nameAt(index)] : []));
  return {
    template,
    workload: { replicas, requirements: { cpu: '1' } },
    placement: { ...placement, clusterAffinity: { exclude } },
    clusters: clustersOf(fleet),
    previous: targetsOf(fleet),
  };
}

const bounds = fc.record({ minGroups: fc.integer({ min: 1, max: 3 }), extra: fc.nat({ max: 3 }) });
const placements = fc.record({
  scheduling: fc.constantFrom(dynamic, aggregated, evenly, duplicated, undefined),
  by: fc.constantFrom(
    { spreadByField: 'region' as const },
    { spreadByField: 'cluster' as const },
    { spreadByLabel: 'rack' },
  ),
  bound: bounds,
  beside: fc.option(bounds, { nil: undefined }),
  strictSpread: fc.boolean(),
});

describe('always', () => {
  test('the sum is the total, room suffices, groups are within bounds, no filter is passed over, order does not matter', () => {
    const outcomes = { placed: 0, refused: 0 };
    fc.assert(
      fc.property(
        fleets,
        placements,
        fc.nat({ max: 40 }),
        (fleet, { scheduling, by, bound, beside, strictSpread }, replicas) => {
          const first = { ...by, minGroups: bound.minGroups, maxGroups: bound.minGroups + bound.extra };
          const second =
            beside && by.spreadByField !== 'cluster'
              ? [
                  {
                    spreadByField: 'cluster' as const,
                    minGroups: beside.minGroups,
                    maxGroups: beside.minGroups + beside.extra,
                  },
                ]
              : [];
          const spreadConstraints = [first, ...second];
          const placement = {
            spreadConstraints,
            strictSpread,
            ...(scheduling ? { replicaScheduling: scheduling } : {}),
          };
          const input = inputOf(fleet, placement, replicas);
          const outcome = schedule(input);
          assert.deepEqual(schedule({ ...input, clusters: input.clusters.toReversed() }), outcome);
          assert.deepEqual(
            outcome.decisions.map(({ cluster: name }) => name),
            fleet.map((_, index) => nameAt(index)).toSorted(),
          );
          const at = (name: string) => fleet[Number(name.slice(1))] as Fleet[number];
          if (outcome.unschedulable) {
            outcomes.refused += 1;
            const staying = input.previous.filter(({ name }) => at(name).fault !== 'leaving');
            return assert.deepEqual(outcome.clusters, staying);
          }
          outcomes.placed += 1;
          const total = outcome.clusters.reduce((sum, target) => sum + (target.replicas ?? 0), 0);
          const divided = scheduling?.replicaSchedulingType === 'Divided';
          assert.equal(total, divided ? replicas : replicas * outcome.clusters.length);
          const byRoom = scheduling === dynamic || scheduling === aggregated;
          for (const { name, replicas: share = 0 } of outcome.clusters) {
            const { fault, had, cpu } = at(name);
            assert.ok(
              fault === undefined || (had > 0 && (fault === 'tainted' || fault === 'lacking')),
              `${name} is ${fault}`,
            );
            if (byRoom) assert.ok(share <= had + cpu, `${name} has ${share}, and room for ${had + cpu}`);
          }
          if (scheduling === evenly && !strictSpread) return undefined; // the weights decide alone
          for (const { minGroups, maxGroups, ...constraint } of spreadConstraints) {
            const groupOf = (name: string) =>
              'spreadByLabel' in constraint
                ? at(name).rack
                : constraint.spreadByField === 'region'
                  ? at(name).region
                  : name;
            const groups = new Set(outcome.clusters.map(({ name }) => groupOf(name))).size;
            const beyond =
              'spreadByField' in by && by.spreadByField === 'region' && !strictSpread && groupOf('c0') === 'c0';
            // As Karmada has it, each region has a cluster, though that be one more than the bound on clusters.
            if (!beyond) assert.ok(groups <= maxGroups, `${groups} groups, at most ${maxGroups}`);
            // Who is divided among them need not have a share for each.
            if (!divided) assert.ok(groups >= minGroups, `${groups} groups, at least ${minGroups}`);
          }
          return undefined;
        },
      ),
      SEEDED,
    );
    assert.ok(Math.min(outcomes.placed, outcomes.refused) > 50, JSON.stringify(outcomes));
  });

  test('scaling moves no replica that need not: up only adds, down only takes', () => {
    const outcomes = { up: 0, down: 0 };
    fc.assert(
      fc.property(fleets, fc.nat({ max: 60 }), fc.constantFrom(dynamic, aggregated), (fleet, replicas, scheduling) => {
        const sound = fleet.map((each) => ({ ...each, fault: undefined }));
        const input = inputOf(sound, { replicaScheduling: scheduling }, replicas);
        const outcome = schedule(input);
        if (outcome.unschedulable) return;
        const before = new Map(input.previous.map(({ name, replicas: share = 0 }) => [name, share]));
        const after = new Map(outcome.clusters.map(({ name, replicas: share = 0 }) => [name, share]));
        const total = [...before.values()].reduce((sum, share) => sum + share, 0);
        const scalesUp = replicas >= total;
        outcomes[scalesUp ? 'up' : 'down'] += 1;
        for (const name of new Set([...before.keys(), ...after.keys()])) {
          const change = (after.get(name) ?? 0) - (before.get(name) ?? 0);
          assert.ok(scalesUp ? change >= 0 : change <= 0, `${name} changes by ${change}`);
        }
      }),
      SEEDED,
    );
    assert.ok(Math.min(outcomes.up, outcomes.down) > 50, JSON.stringify(outcomes));
  });

  test('by weights of the policy too, while clusters stay the same', () => {
    fc.assert(
      fc.property(fleets, fc.nat({ max: 40 }), fc.nat({ max: 20 }), (fleet, few, more) => {
        const sound = fleet.map((each) => ({ ...each, fault: undefined }));
        const at = (replicas: number) => {
          const { clusters } = schedule(inputOf(sound, { replicaScheduling: evenly }, replicas));
          return new Map(clusters.map(({ name, replicas: share = 0 }) => [name, share]));
        };
        const [before, after] = [at(few), at(few + more)];
        for (const [name, share] of before) assert.ok((after.get(name) ?? 0) >= share, `${name} lost some`);
      }),
      SEEDED,
    );
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Placement } from '../api/index.ts';
import type { Candidate } from './candidate.ts';
import { decide } from './decide.ts';
import { targetsOf } from './schedule.ts';
import { cluster } from './testing/build.ts';
import { oracle } from './testing/upstream-oracle.ts';
import { fnv1a } from '../template/tie-break.ts';

type SpreadConstraint = NonNullable<Placement['spreadConstraints']>[number];

const SEEDED = { seed: 20_261, numRuns: 3_000 };

const candidateLists = fc
  .array(
    fc.record({
      region: fc.constantFrom('r0', 'r1', 'r2', 'r3'),
      zone: fc.constantFrom('z0', 'z1', 'z2'),
      had: fc.option(fc.nat({ max: 6 }), { freq: 2, nil: undefined }),
      allocatable: fc.nat({ max: 9 }),
    }),
    { minLength: 1, maxLength: 9 },
  )
  .map((list) =>
    list.map(({ region, zone, had, allocatable }, index): Candidate => {
      const name = `m${index}`;
      const assigned = had ?? 0;
      return {
        name,
        cluster: cluster(name, { region, zones: [zone] }),
        tier: 0,
        score: had === undefined ? 0 : 100,
        assigned,
        allocatable,
        available: assigned + allocatable,
      };
    }),
  );

const bounds = fc
  .record({ minGroups: fc.integer({ min: 1, max: 4 }), more: fc.nat({ max: 3 }), open: fc.boolean() })
  .map(({ minGroups, more, open }) => (open ? { minGroups } : { minGroups, maxGroups: minGroups + more }));

const spreadBy = (spreadByField: NonNullable<SpreadConstraint['spreadByField']>) =>
  fc.option(
    bounds.map((bound) => ({ spreadByField, ...bound })),
    { nil: undefined },
  );

const weights = fc.array(fc.tuple(fc.nat({ max: 9 }), fc.nat({ max: 4 })), { maxLength: 5 }).map((rules) =>
  rules.map(([index, weight]) => ({
    targetCluster: { clusterNames: [`m${index}`, `m${index + 1}`] },
    weight,
  })),
);

const schedulings = fc.oneof(
  fc.constant(undefined),
  fc.constant({ replicaSchedulingType: 'Duplicated' as const }),
  fc.constant({ replicaSchedulingType: 'Divided' as const, replicaDivisionPreference: 'Aggregated' as const }),
  fc.constant({ replicaSchedulingType: 'Divided' as const, replicaDivisionPreference: 'Weighted' as const }),
  fc.constant({
    replicaSchedulingType: 'Divided' as const,
    replicaDivisionPreference: 'Weighted' as const,
    weightPreference: { dynamicWeight: 'AvailableReplicas' as const },
  }),
  weights.map((staticWeightList) => ({
    replicaSchedulingType: 'Divided' as const,
    replicaDivisionPreference: 'Weighted' as const,
    weightPreference: { staticWeightList },
  })),
);

function placementOf(
  replicaScheduling: Placement['replicaScheduling'] | undefined,
  constraints: readonly (SpreadConstraint | undefined)[],
): Placement {
  const spreadConstraints = constraints.filter((constraint) => constraint !== undefined);
  return { spreadConstraints, ...(replicaScheduling ? { replicaScheduling } : {}) };
}

const asText = (shares: Iterable<readonly [string, number]>) =>
  [...shares]
    .map(([name, replicas]) => `${name}=${replicas}`)
    .toSorted()
    .join(' ');

test('decides as Karmada, rule by rule', () => {
  const outcomes = { same: 0, refused: 0 };
  fc.assert(
    fc.property(
      candidateLists,
      schedulings,
      spreadBy('cluster'),
      spreadBy('region'),
      fc.nat({ max: 30 }),
      fc.boolean(),
      fc.string({ maxLength: 3 }),
      (candidates, scheduling, byCluster, byRegion, replicas, fresh, uid) => {
        const placement = placementOf(scheduling, [byCluster, byRegion]);
        const descending = uid !== '' && fnv1a(uid) % 2 === 1;
        const expected = oracle(candidates, { placement, replicas, fresh, descending });
        const decided = decide(candidates, { placement, uid, replicas, fresh });
        if (!expected || 'refused' in decided) {
          outcomes.refused += 1;
          return assert.equal('refused' in decided, expected === undefined);
        }
        outcomes.same += 1;
        const got = targetsOf(decided).map(({ name, replicas: share = 0 }) => [name, share] as const);
        assert.equal(asText(got), asText(expected));
      },
    ),
    SEEDED,
  );
  assert.ok(Math.min(outcomes.same, outcomes.refused) > SEEDED.numRuns / 10, JSON.stringify(outcomes));
});

describe('constraints of any kind together', () => {
  const everything = fc.record({
    candidates: candidateLists,
    scheduling: schedulings,
    constraints: fc.tuple(spreadBy('cluster'), spreadBy('region'), spreadBy('zone')),
    replicas: fc.nat({ max: 30 }),
  });

  /** Whether the clusters are within every bound and, where replicas go by room, have enough. */
  function holds(chosen: readonly Candidate[], constraints: readonly SpreadConstraint[], needed: number): boolean {
    const within = constraints.every(({ spreadByField, minGroups = 1, maxGroups = Infinity }) => {
      const groupOf = ({ name, cluster: { spec } }: Candidate) =>
        spreadByField === 'cluster' ? name : spreadByField === 'region' ? spec.region : spec.zones?.join();
      const groups = new Set(chosen.map(groupOf)).size;
      return groups >= minGroups && groups <= maxGroups;
    });
    return within && chosen.reduce((sum, { available }) => sum + available, 0) >= needed;
  }

  const subsets = (candidates: readonly Candidate[]) =>
    Array.from({ length: 2 ** candidates.length - 1 }, (_, bits) =>
      candidates.filter((__, index) => ((bits + 1) >> index) % 2 === 1),
    );

  test('are met wherever any choice meets them, and else it is refused', () => {
    const outcomes = { chosen: 0, refused: 0 };
    fc.assert(
      fc.property(everything, ({ candidates, scheduling, constraints, replicas }) => {
        const placement = { ...placementOf(scheduling, constraints), strictSpread: true };
        const { spreadConstraints = [] } = placement;
        if (spreadConstraints.length === 0) return;
        const byRoom =
          scheduling?.replicaSchedulingType === 'Divided' &&
          (!('weightPreference' in scheduling) || 'dynamicWeight' in scheduling.weightPreference) &&
          (scheduling.replicaDivisionPreference === 'Aggregated' || 'weightPreference' in scheduling);
        const needed = byRoom ? replicas : 0;
        const decided = decide(candidates, { placement, uid: undefined, replicas, fresh: false });
        const possible = subsets(candidates).some((chosen) => holds(chosen, spreadConstraints, needed));
        assert.equal('refused' in decided, !possible);
        if ('refused' in decided) outcomes.refused += 1;
        else {
          outcomes.chosen += 1;
          assert.ok(holds(decided.selected, spreadConstraints, needed));
        }
      }),
      { ...SEEDED, numRuns: 1_000 },
    );
    assert.ok(Math.min(outcomes.chosen, outcomes.refused) > 100, JSON.stringify(outcomes));
  });

  test('what has the template is taken before what has not, where the bounds let it', () => {
    const candidate = (name: string, region: string, assigned: number): Candidate => ({
      name,
      cluster: cluster(name, { region, zones: ['z'] }),
      tier: 0,
      score: assigned > 0 ? 100 : 0,
      assigned,
      allocatable: 9,
      available: 9 + assigned,
    });
    const candidates = [
      candidate('a', 'eu', 0),
      candidate('b', 'us', 0),
      candidate('c', 'eu', 2),
      candidate('d', 'eu', 1),
    ];
    const placement: Placement = {
      spreadConstraints: [
        { spreadByField: 'cluster', maxGroups: 3 },
        { spreadByField: 'region', minGroups: 2 },
        { spreadByField: 'zone', maxGroups: 1 },
      ],
    };
    const decided = decide(candidates, { placement, uid: undefined, replicas: 3, fresh: false });
    assert.ok('selected' in decided);
    assert.deepEqual(decided.selected.map(({ name }) => name).toSorted(), ['b', 'c', 'd']);
  });

  test('one that needs none of them is by room alone: Karmada has no rule for it', () => {
    const zones = ['z0', 'z0', 'z1'].map((zone, index) => {
      const name = `m${index}`;
      const allocatable = [1, 1, 8][index] ?? 0;
      const each = { name, cluster: cluster(name, { zones: [zone] }), tier: 0, score: 0, assigned: 0 };
      return { ...each, allocatable, available: allocatable };
    });
    const placement: Placement = {
      replicaScheduling: { weightPreference: { dynamicWeight: 'AvailableReplicas' } },
      spreadConstraints: [{ spreadByField: 'zone', maxGroups: 1 }],
    };
    const decided = decide(zones, { placement, uid: undefined, replicas: 5, fresh: false });
    assert.ok('selected' in decided);
    assert.deepEqual(targetsOf(decided), [{ name: 'm2', replicas: 5 }]);
  });

  test('listed weights go before constraints, unless the policy is strict', () => {
    const candidates = ['a', 'b'].map((name) => ({
      name,
      cluster: cluster(name),
      tier: 0,
      score: 0,
      assigned: 0,
      allocatable: 9,
      available: 9,
    }));
    const placement: Placement = {
      replicaScheduling: { replicaSchedulingType: 'Divided', replicaDivisionPreference: 'Weighted' },
      spreadConstraints: [{ spreadByField: 'cluster', maxGroups: 1 }],
    };
    const demand = { uid: undefined, replicas: 4, fresh: false };
    const targets = (strictSpread: boolean) => {
      const decided = decide(candidates, { placement: { ...placement, strictSpread }, ...demand });
      return 'selected' in decided ? targetsOf(decided).map(({ name }) => name) : [];
    };
    assert.deepEqual(targets(false), ['a', 'b']);
    assert.deepEqual(targets(true), ['a']);
  });
});

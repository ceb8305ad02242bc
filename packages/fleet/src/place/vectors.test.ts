import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { compareWithKarmada, type KarmadaVector, readVector } from './testing/karmada-vector.ts';

/**
 * Decisions recorded from Karmada's scheduler, so that a policy that is migrated gives the same distribution. The file lives
 * outside the repository: ASTERISM_VECTORS names it.
 */
const file =
  process.env['ASTERISM_VECTORS'] ??
  fileURLToPath(new URL('../../../../../shared/vectors/replica-division.jsonl', import.meta.url));

test('decides as Karmada does', { skip: existsSync(file) ? false : `${file} is not there` }, (context) => {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const differences = lines.flatMap((line, index) => {
    const { same, wanted, got } = compareWithKarmada(readVector(line));
    return same ? [] : [`line ${index + 1}: wanted ${wanted}, got ${got}`];
  });
  context.diagnostic(`matched ${lines.length - differences.length} of ${lines.length}`);
  assert.deepEqual(differences, []);
});

describe('a recorded decision', () => {
  const summary = (cpu: string, pods = '10') => ({ resourceSummary: { allocatable: { cpu, pods } } });
  const vector = (parts: Partial<KarmadaVector>, spec: Partial<KarmadaVector['spec']> = {}): KarmadaVector => ({
    clusters: [
      { metadata: { name: 'a' }, spec: { region: 'eu' }, status: summary('4') },
      { metadata: { name: 'b' }, spec: { region: 'us' }, status: summary('2') },
    ],
    scores: [0, 0],
    spec: {
      resource: { apiVersion: 'apps/v1', kind: 'Deployment' },
      replicaRequirements: { resourceRequest: { cpu: '1' } },
      replicas: 3,
      ...spec,
    },
    result: [],
    ...parts,
  });
  const dynamic = {
    replicaScheduling: {
      replicaSchedulingType: 'Divided' as const,
      replicaDivisionPreference: 'Weighted' as const,
      weightPreference: { dynamicWeight: 'AvailableReplicas' as const },
    },
  };
  const got = (subject: KarmadaVector) => compareWithKarmada(subject).got;

  test('is equal as a set, and a refusal to a refusal', () => {
    const result = [
      { name: 'b', replicas: 1 },
      { name: 'a', replicas: 2 },
    ];
    assert.equal(compareWithKarmada(vector({ result }, { placement: dynamic })).same, true);
    assert.equal(compareWithKarmada(vector({ err: 'no room' }, { placement: dynamic })).same, false);
    const full: Partial<KarmadaVector['spec']> = { placement: dynamic, replicas: 9 };
    const { result: _, ...refused } = vector({ err: 'no room' }, full);
    assert.equal(compareWithKarmada(refused).same, true);
    assert.equal(compareWithKarmada(vector({ result }, full)).same, false);
  });

  const rows: { name: string; subject: KarmadaVector; expected: string | RegExp }[] = [
    {
      name: 'scores count as they are given, not as the clusters before have it',
      subject: vector(
        { scores: [0, 100] },
        { placement: { spreadConstraints: [{ spreadByField: 'cluster', minGroups: 1, maxGroups: 1 }] } },
      ),
      expected: 'b=3',
    },
    {
      name: 'a zone beside a cluster constraint is only a filter',
      subject: vector(
        {},
        {
          placement: {
            spreadConstraints: [
              { spreadByField: 'zone', minGroups: 2 },
              { spreadByField: 'cluster', minGroups: 1, maxGroups: 1 },
            ],
          },
        },
      ),
      expected: 'a=3',
    },
    {
      name: 'a zone alone is refused',
      subject: vector({}, { placement: { spreadConstraints: [{ spreadByField: 'zone', minGroups: 2 }] } }),
      expected: /^refused: /,
    },
    {
      name: 'neither replicas nor requests is no workload',
      subject: {
        ...vector({}),
        spec: { resource: { apiVersion: 'v1', kind: 'ConfigMap' }, placement: dynamic },
      },
      expected: 'a=0 b=0',
    },
    {
      name: 'pods that are on their way take room',
      subject: vector(
        {
          clusters: [
            {
              metadata: { name: 'a' },
              status: {
                resourceSummary: { ...summary('8').resourceSummary, allocating: { cpu: '6', pods: '1' } },
              },
            },
          ],
        },
        { placement: dynamic },
      ),
      expected: /^refused: .*room for 2 of 3/,
    },
    {
      name: 'resource models go before sums: what fits into the nodes of each grade',
      subject: vector(
        {
          clusters: [
            {
              metadata: { name: 'a' },
              spec: { resourceModels: [{ grade: 1, ranges: [{ name: 'cpu', min: '1500m' }] }] },
              status: {
                resourceSummary: {
                  ...summary('100', '200').resourceSummary,
                  allocatableModelings: [{ grade: 1, count: 2 }],
                },
              },
            },
          ],
        },
        { placement: dynamic },
      ),
      expected: /^refused: .*room for 2 of 3/,
    },
    {
      name: 'a rescheduling after the last one begins anew',
      subject: vector(
        { status: { lastScheduledTime: '2026-01-01T00:00:00Z' } },
        {
          placement: dynamic,
          clusters: [{ name: 'b', replicas: 3 }],
          rescheduleTriggeredAt: '2026-01-01T00:00:01Z',
        },
      ),
      expected: 'a=1 b=2',
    },
    {
      name: 'a rescheduling before the last one does not',
      subject: vector(
        { status: { lastScheduledTime: '2026-01-01T00:00:02Z' } },
        {
          placement: dynamic,
          clusters: [{ name: 'b', replicas: 3 }],
          rescheduleTriggeredAt: '2026-01-01T00:00:01Z',
        },
      ),
      expected: 'b=3',
    },
  ];
  for (const { name, subject, expected } of rows) {
    test(name, () =>
      typeof expected === 'string' ? assert.equal(got(subject), expected) : assert.match(got(subject), expected),
    );
  }

  test('where upstream itself is not determined, a difference says so', () => {
    const clusters = Array.from({ length: 13 }, (_, index) => ({
      metadata: { name: `m${index}` },
      status: summary('4'),
    }));
    const placement = {
      replicaScheduling: {
        replicaSchedulingType: 'Divided' as const,
        replicaDivisionPreference: 'Aggregated' as const,
      },
    };
    const result = [{ name: 'm7', replicas: 3 }];
    const { same, undetermined } = compareWithKarmada(vector({ clusters, scores: [], result }, { placement }));
    assert.equal(same, false);
    assert.match(undetermined ?? '', /13 clusters/);
    const fewer = vector({ clusters: clusters.slice(0, 12), scores: [], result }, { placement });
    assert.equal(compareWithKarmada(fewer).undetermined, undefined);
  });

  test('a line that is none says what it lacks', () => {
    assert.throws(() => readVector('{"clusters":[],"spec":{}}'), /neither result nor err/);
    assert.throws(() => readVector('{}'), /no clusters/);
    assert.throws(() => readVector('{'), /JSON|Unexpected|Expected/);
  });
});

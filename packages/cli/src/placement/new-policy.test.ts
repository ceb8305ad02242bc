import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CommandError, EXIT } from '../exit-code.ts';
import { newPolicy, type PolicyFlags } from './new-policy.ts';

const IDENTITY = { name: 'p', namespace: 'demo' };
const WEB = { apiVersion: 'apps/v1', kind: 'Deployment', names: ['web'] };
const DIVIDED = { replicaSchedulingType: 'Divided' };
const only = (cluster: string, weight: number) => ({ targetCluster: { clusterNames: [cluster] }, weight });

describe('newPolicy', () => {
  const rows: { name: string; flags: PolicyFlags; placement: object }[] = [
    { name: 'everywhere', flags: { clusters: 'all' }, placement: {} },
    { name: 'by name', flags: { clusters: 'a,b' }, placement: { clusterAffinity: { clusterNames: ['a', 'b'] } } },
    {
      name: 'by labels',
      flags: { clusters: 'tier=gold,region in (eu, us),zone!=z1,gpu,!old' },
      placement: {
        clusterAffinity: {
          labelSelector: {
            matchLabels: { tier: 'gold' },
            matchExpressions: [
              { key: 'gpu', operator: 'Exists' },
              { key: 'old', operator: 'DoesNotExist' },
              { key: 'region', operator: 'In', values: ['eu', 'us'] },
              { key: 'zone', operator: 'NotIn', values: ['z1'] },
            ],
          },
        },
      },
    },
    { name: 'all replicas in each', flags: { division: 'duplicated' }, placement: {} },
    {
      name: 'equal shares',
      flags: { division: 'weighted' },
      placement: { replicaScheduling: { ...DIVIDED, replicaDivisionPreference: 'Weighted' } },
    },
    {
      name: 'given shares',
      flags: { weights: 'a=2, b=1' },
      placement: {
        replicaScheduling: {
          ...DIVIDED,
          replicaDivisionPreference: 'Weighted',
          weightPreference: { staticWeightList: [only('a', 2), only('b', 1)] },
        },
      },
    },
    {
      name: 'shares by room',
      flags: { division: 'available' },
      placement: {
        replicaScheduling: {
          ...DIVIDED,
          replicaDivisionPreference: 'Weighted',
          weightPreference: { dynamicWeight: 'AvailableReplicas' },
        },
      },
    },
    {
      name: 'few clusters',
      flags: { division: 'aggregated' },
      placement: { replicaScheduling: { ...DIVIDED, replicaDivisionPreference: 'Aggregated' } },
    },
  ];
  for (const { name, flags, placement } of rows) {
    test(name, () => assert.deepEqual(newPolicy(IDENTITY, [WEB], ['a', 'b'], flags).spec.placement, placement));
  }

  test('several templates, all of a kind by labels, and all else that flags say', () => {
    const all = { apiVersion: 'v1', kind: 'ConfigMap', names: [] };
    const flags: PolicyFlags = { selector: 'app=web', priority: '-2', preempt: true, dependencies: true };
    const { spec } = newPolicy(IDENTITY, [{ ...WEB, names: ['web', 'db'] }, all], [], flags);
    assert.deepEqual(spec, {
      resourceSelectors: [
        { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        { apiVersion: 'apps/v1', kind: 'Deployment', name: 'db' },
        { apiVersion: 'v1', kind: 'ConfigMap', labelSelector: { matchLabels: { app: 'web' } } },
      ],
      priority: -2,
      preemption: 'Always',
      propagateDeps: true,
      placement: {},
    });
  });

  test('templates without a namespace need a policy without one', () => {
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', names: ['r'] };
    const { kind, metadata } = newPolicy({ name: 'p', namespace: undefined }, [role], [], {});
    assert.deepEqual([kind, metadata], ['ClusterPropagationPolicy', { name: 'p' }]);
  });

  for (const [flags, says] of [
    [{ clusters: 'size>3' }, /^-C: a policy cannot compare size by >/],
    [{ selector: 'a in (b' }, /^-l: "a in \(b" is no label expression/],
    [{ priority: 'high' }, /^--priority: "high" is no whole number/],
    [{ weights: 'a=-1' }, /^--weights: "a=-1" is no CLUSTER=NUMBER/],
  ] as const) {
    test(`${JSON.stringify(flags)} is wrong usage`, () => {
      assert.throws(
        () => newPolicy(IDENTITY, [{ ...WEB, names: [] }], [], flags),
        (error) => error instanceof CommandError && error.exitCode === EXIT.usage && says.test(error.message),
      );
    });
  }
});

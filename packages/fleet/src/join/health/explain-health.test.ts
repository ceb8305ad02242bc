import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Cluster } from '../../api/index.ts';
import { explainHealth } from './explain-health.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');

function cluster(ready: ['True' | 'False' | 'Unknown', string] | undefined, parts: Partial<Cluster> = {}): Cluster {
  return {
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'Cluster',
    metadata: { name: 'edge-1' },
    spec: { id: 'id', syncMode: 'Pull', connection: { type: 'Tunnel' } },
    ...(ready
      ? {
          status: {
            conditions: [
              {
                type: 'Ready',
                status: ready[0],
                reason: ready[1],
                message: 'because',
                lastTransitionTime: '2026-01-02T03:01:05Z',
              },
            ],
          },
        }
      : {}),
    ...parts,
  };
}

describe('the health of a cluster in words', () => {
  test('well: nothing follows, and nothing is to do', () => {
    assert.deepEqual(explainHealth(cluster(['True', 'ClusterReady']), '2026-01-02T03:04:00Z', NOW), {
      state: 'Ready for 3m, since 2026-01-02T03:01:05Z',
      why: 'because',
      consequences: [],
      advice: [],
    });
  });

  test('silent: when it was last heard, what that means, where to look', () => {
    const taints = [{ key: 'asterism.dev/unreachable', effect: 'NoSchedule' as const }];
    const { spec } = cluster(undefined);
    const silent = cluster(['Unknown', 'AgentSilent'], { spec: { ...spec, taints } });
    const { state, consequences, advice } = explainHealth(silent, '2026-01-02T03:00:25Z', NOW);
    assert.equal(state, 'Unknown for 3m, since 2026-01-02T03:01:05Z; last heard 3m40s ago');
    assert.match(consequences[0] ?? '', /nothing new .* asterism\.dev\/unreachable/);
    assert.match(advice[0] ?? '', /whether the agent runs/);
  });

  test('never heard', () => {
    const { state, advice } = explainHealth(cluster(undefined), undefined, NOW);
    assert.equal(state, 'Joined, and not heard yet');
    assert.notEqual(advice.length, 0);
  });

  for (const reason of ['ApiServerUnreachable', 'ApiServerNotReady', 'CredentialRefused', 'HealthForbidden']) {
    test(`${reason}: there is something to do`, () => {
      assert.notEqual(explainHealth(cluster(['False', reason]), undefined, NOW).advice.length, 0);
    });
  }

  test('ready, but for its nodes', () => {
    const well = cluster(['True', 'ClusterReady']);
    const nodes = { total: 4, ready: 3, notReady: 1, schedulable: 0 };
    const { advice } = explainHealth({ ...well, status: { ...well.status, nodes } }, undefined, NOW);
    assert.deepEqual(advice, [
      '1 of its nodes are not ready: aster get nodes -C edge-1',
      'all its nodes are cordoned: aster get nodes -C edge-1',
    ]);
  });
});

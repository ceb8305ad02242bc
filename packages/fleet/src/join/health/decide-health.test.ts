import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Cluster, Taint } from '../../api/index.ts';
import { clusterHealth, decidePulse, type Heartbeat, observeHeartbeat, type Pulse } from './decide-health.ts';

const TIMEOUT = 40_000;
const NOW = Date.parse('2026-01-02T03:04:05Z');

const alive: Pulse = { state: 'Alive', checkInMs: 1 };
const undecided: Pulse = { state: 'Undecided', checkInMs: 1 };
const silent: Pulse = { state: 'Silent', forMs: TIMEOUT };

function cluster(ready: 'True' | 'False' | 'Unknown' | undefined, taints?: Taint[]): Cluster {
  return {
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'Cluster',
    metadata: { name: 'edge-1' },
    spec: { id: 'id-1', syncMode: 'Pull', connection: { type: 'Tunnel' }, ...(taints ? { taints } : {}) },
    ...(ready
      ? {
          status: {
            kubernetesVersion: 'v1.36.0',
            conditions: [
              { type: 'Ready', status: ready, reason: 'R', message: 'm', lastTransitionTime: '2026-01-01T00:00:00Z' },
              { type: 'Other', status: 'True', reason: 'R', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
            ],
          },
        }
      : {}),
  };
}

/** Joined without an agent: it never showed a key. */
function dialled(ready: 'True'): Cluster {
  const { spec, ...rest } = cluster(ready);
  return { ...rest, spec: { ...spec, syncMode: 'Push', connection: { type: 'Direct' } } };
}

describe('the pulse of a cluster', () => {
  /** Looks at the Lease at these times, in seconds since the start of the hub. */
  const pulses = (looks: [second: number, renewTime: string | undefined][]): string[] => {
    let heartbeat: Heartbeat | undefined;
    return looks.map(([second, renewTime]) => {
      heartbeat = observeHeartbeat(heartbeat, renewTime, NOW + second * 1000);
      return decidePulse(heartbeat, TIMEOUT, NOW + second * 1000).state;
    });
  };

  test('a Lease that changes is alive, one that stops is silent after the timeout and not before', () => {
    const states = pulses([
      [0, 'a'],
      [5, 'b'],
      [15, 'c'],
      [54, 'c'],
      [55, 'c'],
      [56, 'd'],
    ]);
    assert.deepEqual(states, ['Undecided', 'Alive', 'Alive', 'Alive', 'Silent', 'Alive']);
  });

  test('a hub that was away for a day holds no silence against anybody', () => {
    assert.deepEqual(
      pulses([
        [0, 'yesterday'],
        [39, 'yesterday'],
        [39.5, 'now'],
      ]),
      ['Undecided', 'Undecided', 'Alive'],
    );
  });

  test('a cluster that never beats is silent too', () => {
    assert.deepEqual(
      pulses([
        [0, undefined],
        [40, undefined],
      ]),
      ['Undecided', 'Silent'],
    );
  });

  test('clocks that differ do not matter: only that the time in the Lease changes', () => {
    assert.deepEqual(
      pulses([
        [0, '2031'],
        [10, '2030'],
        [20, '2029'],
      ]),
      ['Undecided', 'Alive', 'Alive'],
    );
  });

  test('tells when to look again', () => {
    const pulse = decidePulse({ renewTime: 'a', since: NOW, beating: true }, TIMEOUT, NOW + 15_000);
    assert.deepEqual(pulse, { state: 'Alive', checkInMs: 25_000 });
  });
});

describe('what follows for the Cluster', () => {
  const unreachable: Taint = {
    key: 'asterism.dev/unreachable',
    effect: 'NoSchedule',
    timeAdded: '2026-01-02T03:04:05Z',
  };
  const notReady: Taint = { ...unreachable, key: 'asterism.dev/not-ready' };
  const older = { ...unreachable, timeAdded: '2026-01-01T00:00:00Z' };
  const foreign: Taint = { key: 'team', value: 'a', effect: 'NoExecute' };

  const rows: { name: string; cluster: Cluster; pulse: Pulse; taints?: Taint[]; ready?: [string, string] }[] = [
    { name: 'alive and ready: nothing', cluster: cluster('True'), pulse: alive },
    { name: 'undecided: nothing, whatever it was', cluster: cluster('Unknown', [older]), pulse: undecided },
    {
      name: 'silent: Unknown, and a taint beside those of others',
      cluster: cluster('True', [foreign]),
      pulse: silent,
      taints: [foreign, unreachable],
      ready: ['Unknown', 'AgentSilent'],
    },
    { name: 'silent still: nothing is written again', cluster: cluster('Unknown', [older]), pulse: silent },
    {
      name: 'never seen: Unknown, and why',
      cluster: cluster(undefined),
      pulse: silent,
      taints: [unreachable],
      ready: ['Unknown', 'AgentNeverSeen'],
    },
    {
      name: 'silent, where the hub itself looks: it says so',
      cluster: dialled('True'),
      pulse: silent,
      taints: [unreachable],
      ready: ['Unknown', 'ClusterUnreachable'],
    },
    {
      name: 'heard again: the taint goes, Ready is the agent’s to say',
      cluster: cluster('Unknown', [older, foreign]),
      pulse: alive,
      taints: [foreign],
    },
    {
      name: 'alive but not ready: the other taint',
      cluster: cluster('False', [older]),
      pulse: alive,
      taints: [notReady],
    },
    {
      name: 'not ready, then silent: one taint takes the place of the other',
      cluster: cluster('False', [notReady]),
      pulse: silent,
      taints: [unreachable],
      ready: ['Unknown', 'AgentSilent'],
    },
  ];
  for (const row of rows) {
    test(row.name, () => {
      const { spec, status } = clusterHealth(row.cluster, row.pulse, NOW);
      assert.deepEqual(spec?.spec.taints, row.taints);
      const ready = status?.status?.conditions?.find(({ type }) => type === 'Ready');
      assert.deepEqual(ready && [ready.status, ready.reason], row.ready);
      if (ready) assert.equal(ready.lastTransitionTime, '2026-01-02T03:04:05Z');
      if (status && row.cluster.status) {
        assert.equal(status.status?.conditions?.length, 2, 'other conditions stay');
        assert.equal(status.status?.kubernetesVersion, 'v1.36.0');
      }
    });
  }
});

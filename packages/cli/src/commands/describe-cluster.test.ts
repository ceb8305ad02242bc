import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Cluster } from '@asterism/fleet/api';
import { describeCluster } from './describe-cluster.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');

const cedar: Cluster = {
  apiVersion: 'asterism.dev/v1alpha1',
  kind: 'Cluster',
  metadata: { name: 'cedar', creationTimestamp: '2026-01-01T00:00:00Z', labels: { tier: 'edge' } },
  spec: {
    id: 'id',
    syncMode: 'Pull',
    region: 'ap-south',
    connection: { type: 'Tunnel' },
    taints: [{ key: 'asterism.dev/unreachable', effect: 'NoSchedule', timeAdded: '2026-01-02T03:01:05Z' }],
  },
  status: {
    kubernetesVersion: 'v1.20.2',
    platform: 'linux/amd64',
    agentVersion: '0.1.0',
    conditions: [
      {
        type: 'Ready',
        status: 'Unknown',
        reason: 'AgentSilent',
        message: 'the agent stopped renewing its Lease',
        lastTransitionTime: '2026-01-02T03:01:05Z',
      },
    ],
    apiServer: {
      addresses: ['198.51.100.1:6443'],
      livez: { ok: true },
      readyz: { ok: false, failing: ['etcd'], message: '/readyz answers 500: failing are etcd' },
    },
    tunnel: { roundTripMilliseconds: 12 },
    nodes: { total: 4, ready: 3, notReady: 1, schedulable: 2 },
    pods: { running: 20, pending: 1, max: 220 },
    resources: {
      capacity: { cpu: '16', memory: '64Gi', 'nvidia.com/gpu': '4' },
      allocatable: { cpu: '12', memory: '48Gi', 'nvidia.com/gpu': '4' },
      allocated: { cpu: '2500m', memory: '8Gi' },
      requested: { cpu: '3500m', memory: '9Gi', 'nvidia.com/gpu': '1' },
    },
    podCIDRs: ['10.0.0.0/16'],
    serviceCIDRs: ['10.96.0.0/12'],
  },
};

describe('a cluster in words', () => {
  test('how it is, since when, why and what to do come first; then what it is and has', () => {
    const text = describeCluster(cedar, '2026-01-02T03:00:25Z', NOW);
    const words = text.replaceAll(/ +/g, ' ');
    for (const line of [
      'Name: cedar',
      'State: Unknown for 3m, since 2026-01-02T03:01:05Z; last heard 3m40s ago',
      'Why: the agent stopped renewing its Lease',
      'So: - nothing new is placed there that does not tolerate asterism.dev/unreachable',
      "Connection: through its agent's tunnel, 12 ms there and back",
      'Kubernetes: v1.20.2, linux/amd64',
      'API server: 198.51.100.1:6443; livez ok; readyz fails: etcd',
      'Nodes: 3 ready of 4, 1 of them cordoned',
      'Pods: 20 running, 1 pending; room for 220',
      'Pod ranges: 10.0.0.0/16',
      'Taints: asterism.dev/unreachable:NoSchedule for 3m',
      'Labels: tier=edge',
      ' RESOURCE CAPACITY ALLOCATABLE ALLOCATED FREE REQUESTED',
      ' cpu 16 12 2500m 9500m 3500m',
      ' nvidia.com/gpu 4 4 0 4 1',
      ' Ready Unknown 3m AgentSilent the agent stopped renewing its Lease',
    ]) {
      assert.ok(words.includes(`${line}\n`), `${line}\nis not in\n${text}`);
    }
    assert.match(words, /What to do: - see in the cluster whether the agent runs/);
    assert.ok(words.indexOf('State') < words.indexOf('Mode'));
  });

  test('one that has told nothing yet', () => {
    const { apiVersion, kind, metadata, spec } = cedar;
    const text = describeCluster({ apiVersion, kind, metadata, spec }, undefined, NOW);
    assert.match(text, /^State: +Joined, and not heard yet$/m);
    assert.doesNotMatch(text, /undefined|Resources|Conditions/);
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { API_VERSION, type ResourceBinding } from '@asterism/fleet/api';
import { explainBinding } from './explain-binding.ts';

const binding: ResourceBinding = {
  apiVersion: API_VERSION,
  kind: 'ResourceBinding',
  metadata: { name: 'web-deployment', namespace: 'demo' },
  spec: {
    resource: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'demo', name: 'web' },
    policy: { apiVersion: API_VERSION, kind: 'PropagationPolicy', namespace: 'demo', name: 'web' },
    replicas: 9,
    clusters: [
      { name: 'ant', replicas: 3 },
      { name: 'bee', replicas: 6 },
    ],
    decisions: [
      { cluster: 'ant', selected: true, reason: 'Selected', message: 'weight 1 of 3' },
      { cluster: 'bee', selected: true, reason: 'Selected', message: 'weight 2 of 3' },
      { cluster: 'cat', selected: false, reason: 'ClusterAffinity', message: 'not named' },
    ],
  },
  status: {
    conditions: [
      {
        type: 'Scheduled',
        status: 'True',
        reason: 'Success',
        message: 'placed in 2 clusters',
        lastTransitionTime: '2026-11-21T15:00:00Z',
      },
    ],
    aggregatedStatus: [
      { clusterName: 'ant', applied: true },
      {
        clusterName: 'bee',
        applied: false,
        appliedMessage: 'OverridePolicy demo/bad, rule 0, plaintext[0]: there is nothing at /x to replace',
      },
    ],
    unappliedOverrides: [
      {
        kind: 'OverridePolicy',
        namespace: 'demo',
        name: 'bad',
        rule: 0,
        overrider: 'plaintext[0]',
        reason: 'Failed',
        message: 'there is nothing at /x to replace',
        clusters: ['bee'],
      },
      {
        kind: 'ClusterOverridePolicy',
        name: 'idle',
        rule: 1,
        overrider: 'argsOverrider[0]',
        reason: 'NoEffect',
        message: 'there is no container db',
        clusters: ['ant', 'bee'],
      },
    ],
  },
};

describe('why', () => {
  test('names every cluster with its reason, and what stands in the way where it is not applied', () => {
    assert.equal(
      explainBinding(binding, 'Deployment demo/web', undefined),
      `Deployment demo/web, 9 replicas, placed by PropagationPolicy web: placed in 2 clusters

CLUSTER   CHOSEN   REPLICAS   REASON            WHY
ant       yes      3          Selected          weight 1 of 3
bee       yes      6          Selected          weight 2 of 3
cat       no       0          ClusterAffinity   not named

Not applied in bee: OverridePolicy demo/bad, rule 0, plaintext[0]: there is nothing at /x to replace

No effect in ant, bee: ClusterOverridePolicy idle, rule 1, argsOverrider[0]: there is no container db
`,
    );
  });

  test('says what is held back', () => {
    const message = 'applied in 1 of 1 clusters; not removed from bee: dispatching is suspended there';
    const { lastTransitionTime } = binding.status?.conditions?.[0] ?? { lastTransitionTime: '' };
    const held = {
      type: 'FullyApplied',
      status: 'False',
      reason: 'SuspendDispatching',
      message,
      lastTransitionTime,
    } as const;
    const conditions = [...(binding.status?.conditions ?? []), held];
    const text = explainBinding({ ...binding, status: { ...binding.status, conditions } }, 'ConfigMap x', undefined);
    assert.match(text, new RegExp(`^Held back: ${message}$`, 'm'));
  });

  test('keeps to the clusters that are asked for', () => {
    const text = explainBinding(binding, 'Deployment demo/web', ['ant']);
    assert.match(text, /^ant /m);
    assert.doesNotMatch(text, /bee|cat/);
  });
});

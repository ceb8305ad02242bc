import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { API_VERSION, type PropagationPolicy, type ResourceBinding } from '@asterism/fleet/api';
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
      {
        cluster: 'ant',
        selected: true,
        reason: 'Selected',
        message: 'weight 1 of 3',
        score: 100,
        availableReplicas: 40,
      },
      { cluster: 'bee', selected: true, reason: 'Selected', message: 'weight 2 of 3', score: 0, availableReplicas: 7 },
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

const other: PropagationPolicy = {
  apiVersion: API_VERSION,
  kind: 'PropagationPolicy',
  metadata: { name: 'zoo', namespace: 'demo' },
  spec: { resourceSelectors: [] },
};

describe('why', () => {
  test('names every cluster with its reason, and what stands in the way where it is not applied', () => {
    assert.equal(
      explainBinding(binding, 'Deployment demo/web', undefined, {
        passedOver: [{ policy: other, why: 'has the later name' }],
        overrides: new Map([
          ['ant', ['idle']],
          ['bee', ['idle', 'demo/bad']],
        ]),
      }),
      `Deployment demo/web, 9 replicas, placed by PropagationPolicy web: placed in 2 clusters
Not by PropagationPolicy zoo: it has the later name

CLUSTER   CHOSEN   REPLICAS   SCORE   ROOM   REASON            WHY
ant       yes      3          100     40     Selected          weight 1 of 3
bee       yes      6          0       7      Selected          weight 2 of 3
cat       no       0          -       -      ClusterAffinity   not named

Overridden in ant by idle

Overridden in bee by idle, demo/bad

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
    const status = { ...binding.status, conditions };
    const none = { passedOver: [], overrides: new Map() };
    const text = explainBinding({ ...binding, status }, 'ConfigMap x', undefined, none);
    assert.match(text, new RegExp(`^Held back: ${message}$`, 'm'));
  });

  test('says whose right is missing, what does not follow for it, and which overrides are refused', () => {
    const message = 'user "tom" may not place in cluster "cat": needs verb place on clusters.asterism.dev "cat"';
    const withheld = [{ apiVersion: 'v1', kind: 'Secret', name: 'key', message: 'needs verb get on secrets "key"' }];
    const decisions = [{ cluster: 'cat', selected: false, reason: 'NotPermitted', message }];
    const refused = {
      kind: 'OverridePolicy',
      namespace: 'demo',
      name: 'mine',
      reason: 'Refused',
      message: 'no',
    } as const;
    const status = { ...binding.status, unappliedOverrides: [{ ...refused, clusters: ['ant'] }] };
    const spec = { ...binding.spec, authority: 'user "tom"', decisions, withheld };
    const none = { passedOver: [], overrides: new Map() };
    const text = explainBinding({ ...binding, spec, status }, 'Deployment demo/web', undefined, none);
    for (const line of [
      `cat       no       0          NotPermitted   ${message}`,
      'The policy places with the rights of user "tom"',
      'Not taken along, Secret key: needs verb get on secrets "key"',
      'Refused in ant: OverridePolicy demo/mine: no',
    ]) {
      assert.ok(text.split('\n').includes(line), text);
    }
  });

  test('keeps to the clusters that are asked for', () => {
    const overrides = new Map([['bee', ['idle']]]);
    const text = explainBinding(binding, 'Deployment demo/web', ['ant'], { passedOver: [], overrides });
    assert.match(text, /^ant /m);
    assert.doesNotMatch(text, /bee|cat/);
  });

  test('of what only follows it tells what needs it; of groups which was taken', () => {
    const { policy: _, ...spec } = binding.spec;
    const none = { passedOver: [], overrides: new Map() };
    const follower = { ...binding, spec: { ...spec, requiredBy: [binding.spec.resource] } };
    assert.match(
      explainBinding(follower, 'ConfigMap demo/x', [], none),
      /, placed by what needs it \(Deployment web\): /,
    );
    const grouped = { ...binding, spec: { ...binding.spec, affinityName: 'near' } };
    assert.match(explainBinding(grouped, 'x', [], none), /, placed by PropagationPolicy web, by its group near: /);
  });

  test('numbers that a decision did not go by have no column', () => {
    const decisions = [{ cluster: 'ant', selected: true, reason: 'Selected', message: 'x', score: 0 }];
    const whole = { ...binding, spec: { ...binding.spec, decisions, clusters: [{ name: 'ant' }] } };
    const none = { passedOver: [], overrides: new Map() };
    const text = explainBinding(whole, 'x', undefined, none);
    assert.match(text, /^CLUSTER {3}CHOSEN {3}REPLICAS {3}SCORE {3}REASON {5}WHY\nant {7}yes {6}- {10}0 /m);
    const [{ score: _, ...follows } = assert.fail()] = decisions;
    const follower = { ...whole, spec: { ...whole.spec, decisions: [follows] } };
    assert.match(explainBinding(follower, 'x', undefined, none), /^CLUSTER {3}CHOSEN {3}REPLICAS {3}REASON /m);
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Placement, PropagationPolicy, ResourceBinding } from '../../api/index.ts';
import { type PlaceInput, placeTemplate } from '../place-template.ts';
import { cluster, deployment } from '../testing/build.ts';
import { type Grounds, groundsOf } from './grounds.ts';

const NAMES = ['ant', 'bee', 'cat'];
const REFUSED = new Set(['bee', 'cat']);
const UNPLACEABLE = { clusters: REFUSED, missing: 'user "tom" needs verb place on clusters.asterism.dev' };
const refusals = (names: readonly string[]) => new Map(names.map((name) => [name, `tom may not place in ${name}`]));
const MESSAGE =
  '2 more clusters are not shown: no right to place there (user "tom" needs verb place on clusters.asterism.dev)';

/** Of a tenant who may place in `ant`. */
const grounds = (more: Partial<Grounds> = {}): Grounds => ({
  authority: 'user "tom"',
  unread: undefined,
  refusals: refusals([...REFUSED]),
  unplaceable: UNPLACEABLE,
  withheld: [],
  ...more,
});

const policy = (spec: Partial<PropagationPolicy['spec']> = {}): PropagationPolicy => ({
  apiVersion: 'asterism.dev/v1alpha1',
  kind: 'PropagationPolicy',
  metadata: { name: 'web', namespace: 'demo', uid: 'uid-of-policy' },
  spec: { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }], ...spec },
});

const input: PlaceInput = {
  template: deployment(4),
  policy: policy(),
  parents: [],
  clusters: [
    cluster('ant'),
    cluster('bee', { labels: { tier: 'gold' }, taints: [{ key: 'k', effect: 'NoSchedule' }] }),
    cluster('cat', { labels: { tier: 'gold' }, serves: [], deleting: true }),
  ],
  last: undefined,
  grounds: grounds(),
};
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'conf', namespace: 'demo', uid: 'c' } };

const bindingOf = (spec: ResourceBinding['spec']): ResourceBinding => ({
  apiVersion: 'asterism.dev/v1alpha1',
  kind: 'ResourceBinding',
  metadata: { name: 'web', namespace: 'demo', uid: 'uid-of-binding' },
  spec,
});
const placed = (over: Partial<PlaceInput> = {}) => placeTemplate({ ...input, ...over });
const everywhere = placed({ grounds: undefined });

/** All that a binding says, except for what its policy says. */
const textOf = (spec: ResourceBinding['spec']): string => JSON.stringify({ ...spec, placement: undefined });

/** The same, if the clusters that must not be named were others. */
function amongOthers(over: Partial<PlaceInput>): ResourceBinding['spec'] {
  const isHidden = (name = ''): boolean => over.grounds?.unplaceable?.clusters.has(name) ?? REFUSED.has(name);
  const clusters = input.clusters.map((each) =>
    isHidden(each.metadata.name) ? cluster(`other-${each.metadata.name}`) : each,
  );
  const { refusals: _, unplaceable, ...more } = over.grounds ?? grounds();
  const names = [...(unplaceable ?? UNPLACEABLE).clusters].map((name) => `other-${name}`);
  const of = { ...more, refusals: refusals(names), unplaceable: { ...UNPLACEABLE, clusters: new Set(names) } };
  return placed({ ...over, clusters, grounds: of });
}

describe('a binding names only clusters where the author of its policy may place', () => {
  const divided: Placement = { replicaScheduling: { replicaSchedulingType: 'Divided' } };
  const byRoom: Placement = {
    replicaScheduling: { replicaSchedulingType: 'Divided', weightPreference: { dynamicWeight: 'AvailableReplicas' } },
  };
  const to = (...clusterNames: string[]): Placement => ({ clusterAffinity: { clusterNames } });
  const gold: Placement = { clusterAffinity: { labelSelector: { matchLabels: { tier: 'gold' } } } };
  const scheduling = { suspension: { scheduling: true } };
  const rows: [name: string, spec: Partial<PropagationPolicy['spec']>, over?: Partial<PlaceInput>][] = [
    ['every cluster', {}],
    ['divided replicas', { placement: divided }],
    ['replicas divided by room', { placement: byRoom }],
    ['too little room', { placement: byRoom }, { template: deployment(100_000) }],
    ['a cluster named without the right', { placement: to('bee') }],
    ['a label that only others have', { placement: gold }],
    ['a taint that only others have', { placement: { clusterTolerations: [] } }],
    [
      'groups of affinities',
      { placement: { clusterAffinities: [{ affinityName: 'a', clusterNames: ['cat'] }, { affinityName: 'b' }] } },
    ],
    ['a spread', { placement: { spreadConstraints: [{ spreadByField: 'cluster', minGroups: 3, maxGroups: 3 }] } }],
    ['suspended scheduling', scheduling],
    ['a missing override', { dependentOverrides: ['mirror'] }, { isOverrideThere: () => false }],
    ['a right to read that is missing', {}, { grounds: grounds({ unread: 'unread', refusals: refusals(NAMES) }) }],
    ['no right at all', {}, { grounds: grounds({ unplaceable: { ...UNPLACEABLE, clusters: new Set(NAMES) } }) }],
  ];
  for (const last of [undefined, everywhere]) {
    for (const [name, spec, over] of rows) {
      test(`${name}${last ? ', after all of them were named' : ''}`, () => {
        const now = placed({ policy: policy(spec), last, ...over });
        assert.deepEqual(now, amongOthers({ policy: policy(spec), last, ...over }));
        for (const { cluster: named } of now.decisions ?? []) assert.equal(named, 'ant');
        for (const { name: named } of now.clusters ?? []) assert.equal(named, 'ant');
        const shown = now.decisions ?? [];
        assert.equal((now.hiddenClusters?.count ?? 0) + shown.length, NAMES.length);
        if (shown.length > 0) assert.equal(now.hiddenClusters?.message, MESSAGE);
        const settled = placed({ policy: policy(spec), ...over, last: now });
        assert.deepEqual(settled, now, 'the second decision writes nothing');
      });
    }
  }

  test('a label that only others have, or nobody, gives the same answer', () => {
    const silver: Placement = { clusterAffinity: { labelSelector: { matchLabels: { tier: 'silver' } } } };
    const messages = [gold, silver].map((placement) => {
      const { unschedulable } = placed({ policy: policy({ placement }) });
      return unschedulable?.message;
    });
    assert.equal(messages[0], messages[1]);
    assert.equal(
      messages[0],
      'none of 3 clusters can take it: 1 by ClusterAffinity, 2 by NotPermitted (user "tom" needs verb place on clusters.asterism.dev)',
    );
  });

  test('too little room: the others are counted', () => {
    const { unschedulable } = placed({ policy: policy({ placement: byRoom }), template: deployment(100_000) });
    assert.match(unschedulable?.message ?? '', /^the 1 clusters? to choose from .*; 2 more clusters are not shown: /);
  });

  test('if no right is missing, nothing changes', () => {
    const all = placed({ grounds: grounds({ refusals: new Map(), unplaceable: undefined }) });
    assert.deepEqual({ ...all, authority: undefined }, { ...everywhere, authority: undefined });
    assert.deepEqual(
      everywhere.decisions?.map((decision) => decision.cluster),
      NAMES,
    );
    assert.equal('hiddenClusters' in all, false);
  });

  test('what a binding of an older release has placed without the right stays, and is named', () => {
    const last = { ...everywhere, clusters: [{ name: 'bee' }] };
    const judgement = { authority: 'all', recorded: false, unread: undefined, refusals: refusals(['bee', 'cat']) };
    const older = groundsOf({ ...judgement, unplaceable: UNPLACEABLE }, last, []);
    const now = placed({ last, grounds: older });
    assert.deepEqual(
      now.decisions?.map((decision) => decision.cluster),
      ['ant', 'bee'],
    );
    assert.equal(now.hiddenClusters?.count, 1);
    assert.doesNotMatch(textOf(now), /cat/);
  });

  test('an object that only follows names no more than what it follows', () => {
    const leader = bindingOf(placed());
    const follower = { template: configMap, policy: undefined, grounds: undefined, parents: [leader] };
    const now = placed({ ...follower, unplaceable: UNPLACEABLE });
    assert.deepEqual(now.clusters, [{ name: 'ant' }]);
    assert.doesNotMatch(textOf(now), /bee|cat/);
    assert.deepEqual(now.hiddenClusters, { count: 2, message: MESSAGE });
  });

  test('where another policy takes it along, the cluster is named; no other is', () => {
    const leader = bindingOf({ ...everywhere, clusters: [{ name: 'bee' }] });
    const now = placed({ template: configMap, parents: [leader] });
    assert.deepEqual(now.clusters, [{ name: 'ant' }, { name: 'bee' }]);
    assert.equal(now.decisions?.at(-1)?.message, 'Deployment web needs it there');
    assert.equal(now.hiddenClusters?.message, MESSAGE.replace('2 more clusters are', '1 more cluster is'));
    assert.doesNotMatch(textOf(now), /cat/);
  });
});

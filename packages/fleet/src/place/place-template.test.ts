import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Placement, PropagationPolicy } from '../api/index.ts';
import { type PlaceInput, placeTemplate } from './place-template.ts';
import { cluster, deployment } from './testing/build.ts';

const policy = (placement: Placement, extra: Partial<PropagationPolicy['spec']> = {}): PropagationPolicy => ({
  apiVersion: 'asterism.dev/v1alpha1',
  kind: 'PropagationPolicy',
  metadata: { name: 'p', namespace: 'demo', uid: 'uid-of-p' },
  spec: { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }], placement, ...extra },
});
const evenly: Placement = { replicaScheduling: { replicaSchedulingType: 'Divided' } };
const byRoom: Placement = {
  replicaScheduling: { replicaSchedulingType: 'Divided', weightPreference: { dynamicWeight: 'AvailableReplicas' } },
};
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'conf', namespace: 'demo', uid: 'c' } };

/** Places once, then again with the result as what stands, and with the changes given. */
function placeTwice(first: PlaceInput, changes: Partial<PlaceInput> = {}) {
  const last = placeTemplate(first);
  return { last, now: placeTemplate({ ...first, last, ...changes }) };
}
const shares = (spec: ReturnType<typeof placeTemplate>) =>
  spec.clusters?.map(({ name, replicas }) => `${name} ${replicas}`).join();

describe('placeTemplate', () => {
  const fleet = [cluster('ant'), cluster('bee')];
  const input: PlaceInput = {
    template: deployment(4),
    policy: policy(evenly),
    parents: [],
    clusters: fleet,
    last: undefined,
  };

  test('the whole spec', () => {
    const { decisions, ...spec } = placeTemplate(input);
    assert.deepEqual(spec, {
      resource: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'demo', name: 'web', uid: 'uid-of-web' },
      policy: {
        apiVersion: 'asterism.dev/v1alpha1',
        kind: 'PropagationPolicy',
        namespace: 'demo',
        name: 'p',
        uid: 'uid-of-p',
      },
      placement: evenly,
      replicas: 4,
      clusters: [
        { name: 'ant', replicas: 2 },
        { name: 'bee', replicas: 2 },
      ],
    });
    assert.equal(decisions?.length, 2);
  });

  const rows: { name: string; changes: Partial<PlaceInput>; expected: string }[] = [
    { name: 'nothing changed', changes: {}, expected: 'ant 2,bee 2' },
    {
      name: 'a cluster more moves nothing',
      changes: { clusters: [...fleet, cluster('cat')] },
      expected: 'ant 2,bee 2',
    },
    {
      name: 'NoSchedule moves nothing',
      changes: { clusters: [cluster('ant', { taints: [{ key: 'x', effect: 'NoSchedule' }] }), cluster('bee')] },
      expected: 'ant 2,bee 2',
    },
    {
      name: 'a cluster that is gone',
      changes: { clusters: [cluster('bee'), cluster('cat')] },
      expected: 'bee 2,cat 2',
    },
    {
      name: 'a cluster that leaves',
      changes: { clusters: [cluster('ant', { deleting: true }), cluster('bee')] },
      expected: 'bee 4',
    },
    { name: 'more replicas', changes: { template: deployment(6) }, expected: 'ant 3,bee 3' },
    {
      name: 'another placement',
      changes: { policy: policy({ ...evenly, clusterAffinity: { clusterNames: ['bee'] } }) },
      expected: 'bee 4',
    },
    {
      name: 'everywhere is everywhere',
      changes: { policy: policy({}), clusters: [...fleet, cluster('cat')] },
      expected: 'ant 4,bee 4,cat 4',
    },
  ];
  for (const { name, changes, expected } of rows) {
    test(name, () => assert.equal(shares(placeTwice(input, changes).now), expected));
  }

  test('a label that is taken from a chosen cluster moves its replicas', () => {
    const gold = { clusterAffinity: { labelSelector: { matchLabels: { tier: 'gold' } } } };
    const labelled = [cluster('ant', { labels: { tier: 'gold' } }), cluster('bee', { labels: { tier: 'gold' } })];
    const first = { ...input, policy: policy({ ...evenly, ...gold }), clusters: labelled };
    assert.equal(shares(placeTwice(first, { clusters: [cluster('ant'), labelled[1] as never] }).now), 'bee 4');
  });

  test('the load of clusters rewrites nothing', () => {
    const first = { ...input, policy: policy(byRoom) };
    const { last, now } = placeTwice(first, {
      clusters: fleet.map(({ metadata }) => cluster(metadata.name as string, { allocated: { pods: '50' } })),
    });
    assert.deepEqual(now, last);
  });

  test('nor does it while there is too little room, until something but figures differs', () => {
    const full = (pods: string) => [cluster('ant', { pods })];
    const first = { ...input, policy: policy(byRoom), clusters: full('1') };
    const { last, now } = placeTwice(first, { clusters: full('2') });
    assert.match(last.unschedulable?.message ?? '', /room for 1 of 4/);
    assert.deepEqual(now, last);
    const more = placeTwice(first, { clusters: full('2'), template: deployment(7) }).now;
    assert.match(more.unschedulable?.message ?? '', /room for 2 of 7/);
    const gone = placeTwice(first, { clusters: [cluster('bee', { deleting: true })] }).now;
    assert.equal(gone.unschedulable?.reason, 'NoClusterFit');
  });

  test('what failed is tried again when there is room', () => {
    const full = [cluster('ant', { pods: '1' })];
    const { last, now } = placeTwice({ ...input, policy: policy(byRoom), clusters: full }, { clusters: fleet });
    assert.equal(last.unschedulable?.reason, 'Unschedulable');
    assert.deepEqual(last.clusters, []);
    assert.equal(now.unschedulable, undefined);
    assert.equal(shares(now), 'ant 2,bee 2');
  });

  describe('what others need', () => {
    const parentSpec = placeTemplate({
      ...input,
      policy: policy(
        { clusterAffinity: { clusterNames: ['bee'] } },
        { propagateDeps: true, conflictResolution: 'Overwrite' },
      ),
    });
    const parent = {
      apiVersion: 'asterism.dev/v1alpha1',
      kind: 'ResourceBinding',
      metadata: { name: 'web-deployment', namespace: 'demo' },
      spec: parentSpec,
    } as const;

    test('goes where they go, and says for whom', () => {
      const spec = placeTemplate({
        template: configMap,
        policy: undefined,
        parents: [parent],
        clusters: fleet,
        last: undefined,
      });
      assert.deepEqual(spec.clusters, [{ name: 'bee' }]);
      assert.equal(spec.requiredBy?.[0]?.name, 'web');
      assert.equal(spec.conflictResolution, 'Overwrite');
      assert.deepEqual(
        spec.decisions?.map(({ cluster: name, reason, message }) => `${name} ${reason} ${message}`),
        ['ant NotRequired nothing that needs it is placed there', 'bee RequiredBy Deployment web needs it there'],
      );
    });

    test('is held back where what needs it is, and by its own policy alone where it has one', () => {
      const held = (clusterNames: string[]) => ({
        ...parent,
        spec: { ...parentSpec, suspension: { dispatchingOnClusters: { clusterNames } } },
      });
      const all = { ...parent, spec: { ...parentSpec, suspension: { dispatching: true } } };
      const follow = (parents: PlaceInput['parents'], own?: PlaceInput['policy']) =>
        placeTemplate({ template: configMap, policy: own, parents, clusters: fleet, last: undefined }).suspension;
      assert.equal(follow([parent]), undefined);
      assert.deepEqual(follow([held(['bee']), held(['ant', 'bee']), parent]), {
        dispatchingOnClusters: { clusterNames: ['ant', 'bee'] },
      });
      assert.deepEqual(follow([held(['bee']), all]), { dispatching: true });
      assert.equal(follow([all], policy({})), undefined);
    });

    test('goes there besides where its own policy puts it, and is taken back alone', () => {
      const own = policy({ clusterAffinity: { clusterNames: ['ant'] } });
      const first: PlaceInput = {
        template: configMap,
        policy: own,
        parents: [parent],
        clusters: fleet,
        last: undefined,
      };
      const { last, now } = placeTwice(first, { parents: [] });
      assert.deepEqual(last.clusters, [{ name: 'ant' }, { name: 'bee' }]);
      assert.deepEqual(now.clusters, [{ name: 'ant' }]);
    });
  });
});

describe('a policy that depends on override policies', () => {
  const depending = (...dependentOverrides: string[]): PlaceInput => ({
    template: deployment(4),
    policy: policy(evenly, { dependentOverrides }),
    parents: [],
    clusters: [cluster('ant'), cluster('bee')],
    last: undefined,
  });
  const there = (...keys: string[]) => ({ isOverrideThere: (key: string) => keys.includes(key) });

  test('places nothing while one of its namespace is missing, and says which', () => {
    const spec = placeTemplate({ ...depending('here', 'missing'), ...there('demo/here', 'missing') });
    assert.equal(shares(spec), '');
    assert.deepEqual(spec.unschedulable, {
      reason: 'AwaitsOverrides',
      message: 'the policy depends on OverridePolicy demo/missing: nothing is decided until that is there',
    });
    assert.ok(spec.decisions?.every(({ reason, selected }) => reason === 'AwaitsOverrides' && !selected));
  });

  test('decides once all are there', () => {
    const { now } = placeTwice({ ...depending('one', 'two'), ...there('demo/one') }, there('demo/one', 'demo/two'));
    assert.deepEqual([shares(now), now.unschedulable], ['ant 2,bee 2', undefined]);
  });

  test('leaves what is placed as it is when one goes', () => {
    const first = { ...depending('one'), ...there('demo/one') };
    const { now } = placeTwice(first, { ...there(), template: deployment(9) });
    assert.deepEqual([shares(now), now.unschedulable?.reason], ['ant 2,bee 2', 'AwaitsOverrides']);
  });

  test('tells of another one though its name differs in a figure only', () => {
    const { now } = placeTwice({ ...depending('mirror-1'), ...there() }, { policy: depending('mirror-2').policy });
    assert.match(now.unschedulable?.message ?? '', /demo\/mirror-2:/);
  });

  test('of the whole fleet waits for such as have no namespace', () => {
    const { metadata, ...rest } = policy(evenly, { dependentOverrides: ['one'] });
    const wide = { ...rest, kind: 'ClusterPropagationPolicy', metadata: { name: metadata.name } } as const;
    const spec = placeTemplate({ ...depending(), policy: wide, ...there('demo/one') });
    assert.match(spec.unschedulable?.message ?? '', /depends on ClusterOverridePolicy one:/);
    assert.equal(shares(placeTemplate({ ...depending(), policy: wide, ...there('one') })), 'ant 2,bee 2');
  });
});

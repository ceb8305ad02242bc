import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import type { Placement, PropagationPolicy } from '../../api/index.ts';
import type { Policy } from '../match-policy.ts';
import type { Grounds } from '../rights/grounds.ts';
import { cluster, deployment } from '../testing/build.ts';
import { clusterLike, imagineClusters } from './imagine-clusters.ts';
import {
  clusterChanges,
  type ImaginedFleet,
  isChanged,
  type PlacementPreview,
  previewPlacements,
} from './preview-placements.ts';

const DIVIDED: Placement = {
  replicaScheduling: {
    replicaSchedulingType: 'Divided',
    replicaDivisionPreference: 'Weighted',
    weightPreference: { dynamicWeight: 'AvailableReplicas' },
  },
};

function policy(name: string, spec: Partial<PropagationPolicy['spec']> = {}): PropagationPolicy {
  return {
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: { name, namespace: 'demo', uid: `uid-of-${name}` },
    spec: { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }], ...spec },
  };
}

function fleet(parts: Partial<ImaginedFleet> & { rules?: PropagationPolicy[] }): ImaginedFleet {
  const { rules = [], ...rest } = parts;
  return {
    templates: [deployment(6)],
    bindings: [],
    policies: { namespaced: rules, cluster: [] },
    overrides: new Set(),
    clusters: [cluster('ant'), cluster('bee'), cluster('cat')],
    ...rest,
  };
}

/** As the fleet is when the hub has decided all of it. */
function settled(parts: Parameters<typeof fleet>[0]): ImaginedFleet {
  const before = fleet(parts);
  return { ...before, bindings: previewPlacements(before).flatMap(({ after }) => after ?? []) };
}

const moves = (preview: PlacementPreview | undefined): string =>
  (preview ? clusterChanges(preview) : [])
    .map((change) => `${change.cluster} ${change.before?.replicas ?? '-'}>${change.after?.replicas ?? '-'}`)
    .join(', ');

describe('previewPlacements', () => {
  test('of a fleet as it is nothing changes', () => {
    const now = settled({ rules: [policy('web', { placement: DIVIDED })] });
    const [preview, ...more] = previewPlacements(now);
    assert.deepEqual(more, []);
    assert.deepEqual(preview?.after, now.bindings[0]);
    assert.equal(preview && isChanged(preview), false);
    assert.equal(moves(preview), 'ant 2>2, bee 2>2, cat 2>2');
  });

  test('a cluster that is lost gives its replicas to the others, which keep theirs', () => {
    const now = settled({ rules: [policy('web', { placement: DIVIDED })] });
    const clusters = imagineClusters(now.clusters, { without: ['bee'], with: [] });
    const [preview] = previewPlacements({ ...now, clusters });
    assert.equal(moves(preview), 'ant 2>3, bee 2>-, cat 2>3');
    assert.deepEqual(
      preview?.after?.spec.decisions?.map((decision) => decision.cluster),
      ['ant', 'cat'],
    );
  });

  test('a cluster that joins moves nothing that is divided, and gets what goes everywhere', () => {
    const dog = clusterLike('dog', cluster('ant', { labels: { tier: 'gold' } }));
    assert.deepEqual(dog.metadata, { name: 'dog', labels: { tier: 'gold' } });
    for (const [placement, expected] of [
      [DIVIDED, 'ant 2>2, bee 2>2, cat 2>2'],
      [{}, 'ant 6>6, bee 6>6, cat 6>6, dog ->6'],
    ] as const) {
      const now = settled({ rules: [policy('web', { placement })] });
      const [preview] = previewPlacements({
        ...now,
        clusters: imagineClusters(now.clusters, { without: [], with: [dog] }),
      });
      assert.equal(moves(preview), expected);
      assert.equal(preview?.after?.spec.decisions?.at(-1)?.reason, placement === DIVIDED ? 'Standing' : 'Selected');
    }
  });

  test('a cluster that gets none has no room, or the others keep what they have: it is told which', () => {
    const now = settled({ rules: [policy('web', { placement: DIVIDED })], clusters: [cluster('ant'), cluster('bee')] });
    const clusters = [...now.clusters, cluster('cat'), cluster('full', { allocated: { pods: '110' } })];
    const aggregated = {
      replicaScheduling: { ...DIVIDED.replicaScheduling, replicaDivisionPreference: 'Aggregated' },
    } as const;
    const policies = { namespaced: [policy('web', { placement: aggregated })], cluster: [] };
    const [preview] = previewPlacements({ ...now, clusters, policies });
    const messages = preview?.after?.spec.decisions?.slice(2).map(({ message }) => message);
    assert.deepEqual(messages, [
      'gets none of 6 replicas: those that are there stay where they are',
      'gets none of 6 replicas: it has no room for one',
    ]);
  });

  test('a policy that comes takes what has none, and of what another has placed only what it may', () => {
    const now = settled({ rules: [policy('web')] });
    const [holder] = now.policies.namespaced;
    assert.ok(holder);
    const only = { clusterAffinity: { clusterNames: ['cat'] } };
    const humble = policy('humble', { priority: 5, placement: only });
    const [kept] = previewPlacements({ ...now, policies: { namespaced: [holder, humble], cluster: [] } });
    assert.equal(kept?.policy, holder);
    assert.equal(isChanged(kept), false);
    assert.deepEqual(kept.passedOver, [
      { policy: humble, why: 'does not preempt, and another has placed the template already' },
    ]);
    const bold = policy('bold', { priority: 5, preemption: 'Always', placement: only });
    const [taken] = previewPlacements({ ...now, policies: { namespaced: [holder, bold], cluster: [] } });
    assert.equal(taken?.policy, bold);
    assert.equal(moves(taken), 'ant 6>-, bee 6>-, cat 6>6');
    assert.deepEqual(taken.passedOver, [{ policy: holder, why: 'has priority 0, lower than 5' }]);
  });

  test('what no policy selects any more is placed nowhere', () => {
    const now = settled({ rules: [policy('web')] });
    const [preview] = previewPlacements({ ...now, policies: { namespaced: [], cluster: [] } });
    assert.equal(preview?.after, undefined);
    assert.equal(moves(preview), 'ant 6>-, bee 6>-, cat 6>-');
  });

  test('a policy that depends on an override policy waits for that, and not where it would be there too', () => {
    const parts = { rules: [policy('web', { dependentOverrides: ['mirror'] })] };
    const [waiting] = previewPlacements(fleet(parts));
    assert.equal(waiting?.after?.spec.unschedulable?.reason, 'AwaitsOverrides');
    const [placed] = previewPlacements(fleet({ ...parts, overrides: new Set(['demo/mirror']) }));
    assert.equal(moves(placed), 'ant ->6, bee ->6, cat ->6');
  });

  test('what was placed nowhere and would not be is left out, and so is what belongs to the hub', () => {
    const own: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'kube-system' } };
    const all = policy('all', { resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap' }] });
    assert.deepEqual(previewPlacements(fleet({ templates: [deployment(1), own], rules: [all] })), []);
  });

  test('what a workload needs goes where the workload would go, whoever comes first in the list', () => {
    const web = deployment(2, { podSpec: { volumes: [{ name: 'v', configMap: { name: 'pages' } }] } });
    const pages: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'pages', namespace: 'demo' } };
    const rules = [policy('web', { propagateDeps: true, placement: { clusterAffinity: { clusterNames: ['bee'] } } })];
    const now = settled({ templates: [pages, web], rules });
    const moved = policy('web', { propagateDeps: true, placement: { clusterAffinity: { clusterNames: ['cat'] } } });
    const previews = previewPlacements({ ...now, policies: { namespaced: [moved], cluster: [] } });
    assert.deepEqual(previews.map(moves), ['bee 2>-, cat ->2', 'bee ->-, cat ->-']);
    const follower = previews[1];
    assert.deepEqual(follower?.before?.spec.clusters, [{ name: 'bee' }]);
    assert.deepEqual(follower?.after?.spec.clusters, [{ name: 'cat' }]);
    assert.equal(follower.after.spec.decisions?.at(-1)?.message, 'Deployment web needs it there');
  });

  test('the pull secrets of its service account go where the workload would go', () => {
    const web = deployment(2, { podSpec: { serviceAccountName: 'robot' } });
    const metadata = { name: 'robot', namespace: 'demo' };
    const robot = { apiVersion: 'v1', kind: 'ServiceAccount', metadata, imagePullSecrets: [{ name: 'pull' }] };
    const pull = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'pull', namespace: 'demo' } };
    const to = (...clusterNames: string[]) =>
      policy('web', { propagateDeps: true, placement: { clusterAffinity: { clusterNames } } });
    const now = settled({ templates: [pull, robot, web], rules: [to('bee')] });
    const previews = previewPlacements({ ...now, policies: { namespaced: [to('cat')], cluster: [] } });
    assert.deepEqual(previews.map(moves), ['bee 2>-, cat ->2', 'bee ->-, cat ->-', 'bee ->-, cat ->-']);
    assert.deepEqual(
      previews.map(({ after }) => after?.spec.clusters?.map(({ name }) => name).join()),
      ['cat', 'cat', 'cat'],
    );
    assert.ok(previewPlacements(now).every((preview) => !isChanged(preview)));
  });

  test('a template is what its policy names, whichever version of it was read', () => {
    const rules = [policy('web', { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }] })];
    const now = settled({ rules });
    const read = { ...deployment(6), apiVersion: 'apps/v2' };
    const [preview] = previewPlacements({ ...now, templates: [read] });
    assert.deepEqual(preview?.after, now.bindings[0]);
    const [nothing] = previewPlacements({
      ...now,
      templates: [read],
      policies: { ...now.policies, serves: () => false },
    });
    assert.equal(nothing?.after, undefined);
  });

  describe('with the rights of the authors', () => {
    const grounds = (refused: string[], more: Partial<Grounds> = {}): Grounds => ({
      authority: 'user "tom"',
      unread: undefined,
      refusals: new Map(refused.map((name) => [name, `user "tom" may not place in cluster "${name}"`])),
      withheld: [],
      ...more,
    });

    test('a cluster without the right is left out, and says so; nothing else changes', () => {
      const rules = [policy('web')];
      const rights = { groundsOf: () => grounds(['bee']) };
      const [preview] = previewPlacements(fleet({ rules, rights }));
      assert.equal(moves(preview), 'ant ->6, cat ->6');
      assert.deepEqual(
        preview?.after?.spec.decisions?.map(({ cluster: name, reason }) => `${name} ${reason}`),
        ['ant Selected', 'bee NotPermitted', 'cat Selected'],
      );
      const bindings = previewPlacements(fleet({ rules, rights })).flatMap(({ after }) => after ?? []);
      assert.ok(previewPlacements(fleet({ rules, rights, bindings })).every((each) => !isChanged(each)));
    });

    test('a policy that may place the template nowhere is passed over for one that may', () => {
      const strong = policy('strong', { priority: 9, preemption: 'Always' });
      for (const powerless of [grounds(['ant', 'bee', 'cat']), grounds([], { unread: 'user "tom" may not read it' })]) {
        const now = fleet({
          rules: [strong, policy('web')],
          rights: { groundsOf: ({ metadata }) => (metadata.name === 'strong' ? powerless : grounds([])) },
        });
        const [preview] = previewPlacements(now);
        assert.equal(preview?.policy?.metadata.name, 'web');
        const [passed] = preview.passedOver;
        assert.match(passed?.why ?? '', /^may place it nowhere: user "tom" may not (place in cluster "ant"|read it)$/);
        const [alone] = previewPlacements({ ...now, policies: { namespaced: [strong], cluster: [] } });
        assert.deepEqual(alone?.after?.spec.clusters, []);
        assert.match(alone.after.spec.unschedulable?.message ?? '', /user "tom" may not /);
      }
    });

    test('an object that the author may not read does not follow', () => {
      const web = deployment(2, { podSpec: { volumes: [{ name: 'v', configMap: { name: 'pages' } }] } });
      const pages: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'pages', namespace: 'demo' } };
      const rules = [policy('web', { propagateDeps: true })];
      const withheld = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'pages', message: 'user "tom" may not read it' }];
      const rights = {
        groundsOf: (_: Policy, { kind }: KubeObject) => (kind === 'Deployment' ? grounds([], { withheld }) : undefined),
      };
      const [workload, ...others] = previewPlacements(fleet({ templates: [web, pages], rules, rights }));
      assert.deepEqual(workload?.after?.spec.withheld, withheld);
      assert.deepEqual(others, []);
    });
  });

  test('what follows a workload that is not asked about goes on following it', () => {
    const pages: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'pages', namespace: 'demo' } };
    const web = deployment(2, { podSpec: { volumes: [{ name: 'v', configMap: { name: 'pages' } }] } });
    const now = settled({ templates: [web, pages], rules: [policy('web', { propagateDeps: true })] });
    const [preview] = previewPlacements({ ...now, templates: [pages] });
    assert.equal(preview && isChanged(preview), false);
    assert.equal(preview?.after?.spec.clusters?.length, 3);
  });
});

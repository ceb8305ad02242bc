import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import type { Cluster, Placement, PropagationPolicy } from '../api/index.ts';
import { KnownClusters } from './known-clusters.ts';
import { placeTemplate } from './place-template.ts';
import { RefusedTemplates } from './refused-templates.ts';
import { cluster, type ClusterParts, deployment } from './testing/build.ts';

const dynamic: Placement['replicaScheduling'] = {
  replicaSchedulingType: 'Divided',
  weightPreference: { dynamicWeight: 'AvailableReplicas' },
};

function policyOf(placement: Placement): PropagationPolicy {
  return {
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: { name: 'p', namespace: 'demo', uid: 'uid-of-p' },
    spec: { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }], placement },
  };
}

/** A Deployment of pods that ask for one core each. */
function wanting(replicas: number, name = 'web'): KubeObject {
  const containers = [{ name: 'web', image: 'x', resources: { requests: { cpu: '1' } } }];
  const template = deployment(replicas, { podSpec: { containers } });
  return { ...template, metadata: { ...template.metadata, name } };
}

/** The part of the placement controller that decides: a fleet whose clusters tell of themselves, and templates that lack room. */
class Placing {
  decisions = 0;
  readonly #clusters: Map<string, Cluster>;
  readonly #known = new KnownClusters();
  readonly #refused = new RefusedTemplates(this.#known);
  readonly #templates = new Map<string, KubeObject>();
  readonly #specs = new Map<string, ReturnType<typeof placeTemplate>>();
  readonly #policy: PropagationPolicy;

  constructor(placement: Placement, clusters: readonly Cluster[]) {
    this.#policy = policyOf(placement);
    this.#clusters = new Map(clusters.map((each) => [each.metadata.name ?? '', each]));
  }

  decide(template: KubeObject): ReturnType<typeof placeTemplate> {
    this.decisions += 1;
    const name = template.metadata?.name ?? '';
    const clusters = [...this.#clusters.values()];
    const known = this.#known;
    const last = this.#specs.get(name);
    const spec = placeTemplate({ template, policy: this.#policy, parents: [], clusters, last, known });
    this.#refused.note(template, spec, clusters);
    this.#templates.set(name, template);
    this.#specs.set(name, spec);
    return spec;
  }

  /** A cluster tells of itself; what it helps is decided anew. */
  tells(name: string, parts: ClusterParts): void {
    const told = cluster(name, parts);
    this.#clusters.set(name, told);
    for (const key of this.#refused.helpedBy(told)) this.decide(this.#templates.get(key.name) ?? assert.fail());
  }

  spec(name = 'web'): ReturnType<typeof placeTemplate> {
    return this.#specs.get(name) ?? assert.fail();
  }
}

describe('what lacked room is decided anew', () => {
  const placing = (placement: Placement, replicas: number, parts: Readonly<Record<string, ClusterParts>>) => {
    const clusters = Object.entries(parts).map(([name, each]) => cluster(name, each));
    const fleet = new Placing({ replicaScheduling: dynamic, ...placement }, clusters);
    fleet.decide(wanting(replicas));
    fleet.decisions = 0;
    return fleet;
  };

  test('when there is enough, and not before', () => {
    const fleet = placing({}, 10, { ant: { cpu: '4' }, bee: { cpu: '4' } });
    assert.equal(fleet.spec().unschedulable?.reason, 'Unschedulable');
    fleet.tells('ant', { cpu: '5' });
    fleet.tells('ant', { cpu: '3' });
    assert.equal(fleet.decisions, 0);
    fleet.tells('bee', { cpu: '7' });
    assert.equal(fleet.decisions, 1);
    assert.deepEqual(fleet.spec().clusters, [
      { name: 'ant', replicas: 3 },
      { name: 'bee', replicas: 7 },
    ]);
    fleet.tells('ant', { cpu: '50' });
    assert.equal(fleet.decisions, 1);
  });

  test('with what is there already counted', () => {
    const fleet = placing({}, 6, { ant: { cpu: '4' }, bee: { cpu: '2' } });
    assert.equal(fleet.spec().unschedulable, undefined);
    fleet.tells('ant', { cpu: '4', allocated: { cpu: '4' } });
    fleet.tells('bee', { cpu: '2', allocated: { cpu: '2' } });
    fleet.decide(wanting(8));
    assert.equal(fleet.spec().unschedulable?.reason, 'Unschedulable');
    fleet.tells('bee', { cpu: '4', allocated: { cpu: '2' } });
    assert.equal(fleet.spec().unschedulable, undefined);
  });

  test('not by a cluster that the policy does not mean, nor by room beyond as many clusters as it admits', () => {
    const names = { clusterAffinity: { clusterNames: ['ant', 'bee'] } };
    const one = { ...names, spreadConstraints: [{ spreadByField: 'cluster' as const, maxGroups: 1 }] };
    const fleet = placing(one, 10, { ant: { cpu: '4' }, bee: { cpu: '4' }, cat: { cpu: '4' } });
    fleet.tells('cat', { cpu: '40' });
    fleet.tells('ant', { cpu: '8' });
    fleet.tells('bee', { cpu: '8' });
    assert.equal(fleet.decisions, 0);
    fleet.tells('bee', { cpu: '10' });
    assert.deepEqual(fleet.spec().clusters, [{ name: 'bee', replicas: 10 }]);
  });

  test('by a cluster of a later group of affinities', () => {
    const groups = ['ant', 'bee'].map((name) => ({ affinityName: name, clusterNames: [name] }));
    const fleet = placing({ clusterAffinities: groups }, 10, { ant: { cpu: '4' }, bee: { cpu: '4' } });
    fleet.tells('bee', { cpu: '10' });
    assert.deepEqual(fleet.spec().clusters, [{ name: 'bee', replicas: 10 }]);
  });

  test('where groups of clusters are chosen by their room, by less of it too', () => {
    const spreadConstraints = [{ spreadByField: 'region' as const, maxGroups: 1 }];
    const regions = { ant: { cpu: '4', region: 'eu' }, bee: { cpu: '9', region: 'us' } };
    const fleet = placing({ spreadConstraints }, 10, regions);
    assert.equal(fleet.spec().unschedulable?.reason, 'Unschedulable');
    fleet.tells('ant', { cpu: '3', region: 'eu' });
    assert.equal(fleet.decisions, 1);
  });

  test('not where no room would help', () => {
    const fleet = placing({ clusterAffinity: { clusterNames: ['dog'] } }, 10, { ant: { cpu: '4' } });
    assert.equal(fleet.spec().unschedulable?.reason, 'NoClusterFit');
    fleet.tells('ant', { cpu: '40' });
    assert.equal(fleet.decisions, 0);
  });
});

test('1,000 templates that lack room, and a hundred clusters that tell of themselves ten times: none is decided in vain', () => {
  const names = Array.from({ length: 100 }, (_, index) => `c${index}`);
  const fleet = new Placing(
    { replicaScheduling: dynamic },
    names.map((name) => cluster(name, { cpu: '4' })),
  );
  for (let index = 0; index < 1000; index += 1) fleet.decide(wanting(1000 + index, `web-${index}`));
  fleet.decisions = 0;
  for (let round = 0; round < 10; round += 1) {
    for (const [index, name] of names.entries()) fleet.tells(name, { cpu: String(1 + ((round * 7 + index) % 8)) });
  }
  assert.equal(fleet.decisions, 0);
  fleet.tells('c0', { cpu: '1000', pods: '2000' });
  const placed = Array.from({ length: 1000 }, (_, index) => fleet.spec(`web-${index}`)).filter(
    ({ unschedulable }) => unschedulable === undefined,
  );
  assert.ok(placed.length > 0 && placed.length < 1000);
  assert.equal(fleet.decisions, placed.length);
});

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  CLUSTER_PROPAGATION_POLICIES,
  CLUSTERS,
  PROPAGATION_POLICIES,
  RESOURCE_BINDINGS,
  WORKS,
} from '@asterism/fleet/api';
import { DEPLOYMENTS, isStatusError, type ResourceType } from '@asterism/machinery';
import { parse } from 'yaml';
import { CommandError, EXIT } from '../exit-code.ts';
import { fakeTerminal } from '../testing/fake-hub.ts';
import { type PlacedFleet, policyOf, startPlacedFleet, web } from '../testing/placed-fleet.ts';
import { propagate, type PropagateFlags } from './propagate.ts';

type Answer = { templates: { changed: boolean; clusters: { cluster: string; before: unknown; after: unknown }[] }[] };

describe('aster propagate', () => {
  let fleet: PlacedFleet;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aster-propagate-'));
    fleet = await startPlacedFleet('alder', 'birch');
  });
  after(async () => {
    await fleet[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  const run = async (words: string[], flags: PropagateFlags) => {
    const terminal = fakeTerminal();
    const code = await propagate(words, { kubeconfig: fleet.kubeconfig, namespace: 'demo', ...flags }, terminal);
    return { code, ...terminal };
  };
  const file = async (name: string, object: object): Promise<string> => {
    await writeFile(join(folder, name), JSON.stringify(object));
    return join(folder, name);
  };
  /** All that a dry run could change, as it is. */
  const everything = async () => {
    const kinds = [CLUSTERS, PROPAGATION_POLICIES, CLUSTER_PROPAGATION_POLICIES, RESOURCE_BINDINGS, WORKS, DEPLOYMENTS];
    const lists = await Promise.all(kinds.map((kind) => fleet.hub.resource(kind as ResourceType).list()));
    return lists
      .flatMap(({ items }) => items)
      .map(({ kind, metadata, ...rest }) => [kind, metadata?.name, metadata?.uid, rest['spec']]);
  };

  test('--dry-run says what is, where nothing would change', async () => {
    const { code, stdout, stderr } = await run(['deploy/web'], { dryRun: true });
    assert.equal(code, EXIT.fine);
    assert.equal(
      stdout,
      `Deployment demo/web, 6 replicas: placed by PropagationPolicy web, as now
CLUSTER   NOW   THEN   REASON     WHY
alder     3     3      Selected   gets 3 of 6 replicas: weight 1 of 2
birch     3     3      Selected   gets 3 of 6 replicas: weight 1 of 2
`,
    );
    assert.equal(stderr, '0 of 1 template would change; nothing was written\n');
  });

  test('--without tells where the replicas of a cluster would go, of all that is placed; nothing is written', async () => {
    const before = await everything();
    const { stdout, stderr } = await run([], { dryRun: true, without: ['birch'] });
    assert.equal(
      stdout,
      `Deployment demo/web, 6 replicas: placed by PropagationPolicy web, as now
CLUSTER   NOW   THEN   REASON     WHY
alder     3     6      Selected   gets 6 of 6 replicas: weight 1 of 1
birch     3     -      Gone       it is not in the fleet
`,
    );
    assert.equal(stderr, '1 of 1 template would change; nothing was written\n');
    assert.deepEqual(await everything(), before);
  });

  test('--with adds a cluster like another, or from a file', async () => {
    const like = await run(['deploy', 'web'], { dryRun: true, with: ['oak=alder'] });
    assert.match(like.stdout, /^oak {7}- {5}- {6}Standing /m);
    const { items } = await fleet.hub.resource(CLUSTERS).list();
    const elm = await file('elm.json', { ...items[0], metadata: { name: 'elm' } });
    const flags = { dryRun: true, with: [elm], clusters: 'alder,elm', preempt: true, priority: '1' };
    const { stdout } = await run(['deploy/web'], flags);
    assert.match(stdout, /^alder {5}3 {5}6 /m);
    assert.match(stdout, /^birch {5}3 {5}- {6}ClusterAffinity/m);
    assert.match(stdout, /^elm {7}- {5}6 {6}Selected/m);
  });

  test('-f tells which templates a policy would move, in JSON too', async () => {
    const before = await everything();
    const only = { clusterAffinity: { clusterNames: ['birch'] } };
    const path = await file('web.json', policyOf('web', only));
    const { stdout } = await run([], { dryRun: true, filename: [path] });
    assert.match(stdout, /^alder {5}3 {5}- {6}ClusterAffinity {3}it is not one of the clusters named: birch$/m);
    assert.match(stdout, /^birch {5}3 {5}6 {6}Selected/m);
    const json = await run([], { dryRun: true, filename: [path], output: 'json' });
    const { templates } = JSON.parse(json.stdout) as Answer;
    assert.deepEqual(
      templates.map(({ changed, clusters }) => [
        changed,
        clusters.map((each) => [each.cluster, each.before, each.after]),
      ]),
      [
        [
          true,
          [
            ['alder', { name: 'alder', replicas: 3 }, null],
            ['birch', { name: 'birch', replicas: 3 }, { name: 'birch', replicas: 6 }],
          ],
        ],
      ],
    );
    assert.deepEqual(await everything(), before);
  });

  test('-f tells which policy keeps a template, and what one that preempts would take', async () => {
    const humble = await file('humble.json', policyOf('humble', {}, { priority: 3 }));
    const kept = await run(['deploy/web'], { dryRun: true, filename: [humble] });
    assert.match(kept.stdout, /: placed by PropagationPolicy web, as now$/m);
    assert.match(kept.stdout, /^Not by PropagationPolicy humble: it does not preempt, and another has placed/m);
    const bold = await file('bold.json', policyOf('bold', {}, { priority: 3, preemption: 'Always' }));
    const taken = await run(['deploy/web'], { dryRun: true, filename: [bold] });
    assert.match(taken.stdout, /: placed by PropagationPolicy bold; now by PropagationPolicy web$/m);
    assert.match(taken.stdout, /^Not by PropagationPolicy web: it has priority 0, lower than 3$/m);
  });

  test('-f places templates that are not there yet', async () => {
    const cart = { ...web(4), metadata: { name: 'cart', namespace: 'demo' } };
    const { stdout } = await run([], { dryRun: true, filename: [await file('cart.json', cart)] });
    assert.match(stdout, /^Deployment demo\/cart, 4 replicas: placed by PropagationPolicy web; now by nobody$/m);
    assert.match(stdout, /^alder {5}- {5}2 /m);
    await assert.rejects(fleet.hub.resource(DEPLOYMENTS).get({ namespace: 'demo', name: 'cart' }), (error) =>
      isStatusError(error, 'NotFound'),
    );
  });

  test('-f tells that a policy waits for an override policy, and that it does not where the files bring that', async () => {
    const cart = await file('cart.json', { ...web(4), metadata: { name: 'cart', namespace: 'demo' } });
    const policy = await file('dependent.json', policyOf('cart', {}, { priority: 3, dependentOverrides: ['mirror'] }));
    const waits = await run([], { dryRun: true, filename: [cart, policy] });
    assert.match(waits.stdout, /Deployment demo\/cart[^]*depends on OverridePolicy demo\/mirror/);
    const mirror = await file('mirror.json', {
      apiVersion: 'asterism.dev/v1alpha1',
      kind: 'OverridePolicy',
      metadata: { name: 'mirror', namespace: 'demo' },
      spec: { overrideRules: [{ overriders: { labelsOverrider: [{ operator: 'add', value: { mirrored: 'yes' } }] } }] },
    });
    const { stdout } = await run([], { dryRun: true, filename: [cart, policy, mirror] });
    assert.match(stdout, /^Deployment demo\/cart, 4 replicas: placed by PropagationPolicy cart; now by nobody$/m);
    assert.doesNotMatch(stdout, /depends on OverridePolicy/);
  });

  test('a policy that the hub would refuse is refused', async () => {
    const wrong = policyOf('wrong', { clusterAffinty: {} });
    await assert.rejects(run([], { dryRun: true, filename: [await file('wrong.json', wrong)] }), /clusterAffinty/);
  });

  test('-o yaml prints the policy that would be written', async () => {
    const flags = { clusters: 'all', weights: 'alder=2,birch=1', dependencies: true, output: 'yaml' } as const;
    const { stdout } = await run(['deploy/web'], flags);
    const weight = (cluster: string, share: number) => ({ targetCluster: { clusterNames: [cluster] }, weight: share });
    assert.deepEqual(parse(stdout), {
      apiVersion: 'asterism.dev/v1alpha1',
      kind: 'PropagationPolicy',
      metadata: { name: 'web-deployment', namespace: 'demo' },
      spec: {
        resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }],
        propagateDeps: true,
        placement: {
          replicaScheduling: {
            replicaSchedulingType: 'Divided',
            replicaDivisionPreference: 'Weighted',
            weightPreference: { staticWeightList: [weight('alder', 2), weight('birch', 1)] },
          },
        },
      },
    });
    const { items } = await fleet.hub.resource(PROPAGATION_POLICIES).list();
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      ['web'],
    );
  });

  test('writes a policy, by which the hub then places; says where another keeps the say', async () => {
    const kept = await run(['deploy/web'], { clusters: 'birch' });
    assert.equal(kept.stdout, 'propagationpolicy.asterism.dev/web-deployment created\n');
    assert.match(kept.stderr, /^Deployment web stays with PropagationPolicy web, which goes before it/m);
    const flags: PropagateFlags = { clusters: 'birch', preempt: true, priority: '1' };
    const told = await run(['deploy/web'], { ...flags, dryRun: true, output: 'json' });
    const taken = await run(['deploy/web'], flags);
    assert.equal(taken.stdout, 'propagationpolicy.asterism.dev/web-deployment configured\n');
    assert.equal(taken.stderr, '');
    const { spec } = await fleet.binding('web-deployment', (binding) => binding.spec.policy?.name === 'web-deployment');
    assert.deepEqual(spec.clusters, [{ name: 'birch', replicas: 6 }]);
    // What was told is what has come, each cluster's decision to the letter.
    const [preview] = (JSON.parse(told.stdout) as Answer).templates;
    const decisions = preview?.clusters.map((each) => {
      const { before: _, after: __, ...decision } = each;
      return decision;
    });
    assert.deepEqual(decisions, spec.decisions);
  });

  test('a Cluster that does not say what it serves could take nothing: it is wrong usage', async () => {
    const spec = { id: 'elm', syncMode: 'Pull', connection: { type: 'Tunnel' } };
    const elm = { apiVersion: 'asterism.dev/v1alpha1', kind: 'Cluster', metadata: { name: 'elm' }, spec };
    await assert.rejects(
      run([], { dryRun: true, with: [await file('silent.json', elm)] }),
      /Cluster elm says in no status\.apis what it serves/,
    );
  });

  for (const [what, words, flags, says] of [
    ['no place', ['deploy/web'], {}, /^where to\?/],
    ['no template', [], { clusters: 'all' }, /^which template\?/],
    ['files without --dry-run', [], { filename: ['x.yaml'], clusters: 'all' }, /^which template\?/],
    ['what-if without --dry-run', ['deploy/web'], { clusters: 'all', without: ['x'] }, /^--without asks what would be/],
    ['weights without -C', ['deploy/web'], { dryRun: true, weights: 'a=1' }, /^--weights is of a policy/],
    [
      'a division that weights contradict',
      ['deploy/web'],
      { clusters: 'all', weights: 'a=1', division: 'available' },
      /^--weights go with/,
    ],
    [
      'weights that are none',
      ['deploy/web'],
      { clusters: 'all', weights: 'a' },
      /^--weights: "a" is no CLUSTER=NUMBER/,
    ],
    ['an unknown cluster', ['deploy/web'], { clusters: 'oak' }, /^no cluster "oak"/],
    [
      'a loss of nothing',
      [],
      { dryRun: true, without: ['oak'] },
      /^--without: no cluster "oak": there are alder, birch$/,
    ],
    ['a cluster twice', [], { dryRun: true, with: ['birch=alder'] }, /^--with: there is a cluster birch already$/],
    ['a kind without a name', ['deploy'], { clusters: 'all' }, /^how shall the policy be called\?/],
  ] as const satisfies readonly (readonly [string, readonly string[], PropagateFlags, RegExp])[]) {
    test(`${what} is wrong usage`, async () => {
      await assert.rejects(
        run([...words], flags as PropagateFlags),
        (error) => error instanceof CommandError && error.exitCode === EXIT.usage && says.test(error.message),
      );
    });
  }
});

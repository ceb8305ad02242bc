import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import { type Decision, PROPAGATION_POLICIES, RESOURCE_BINDINGS } from '@asterism/fleet/api';
import { CLUSTER_ROLE_BINDINGS, CONFIG_MAPS, type KubeObject } from '@asterism/machinery';
import { grant } from '../../../hub/src/testing/grant.ts';
import { apply } from '../../../hub/src/testing/test-fleet.ts';
import { EXIT } from '../exit-code.ts';
import { fakeTerminal } from '../testing/fake-hub.ts';
import { type PlacedFleet, policyOf, startPlacedFleet } from '../testing/placed-fleet.ts';
import { diff, type DiffFlags } from './diff.ts';
import { propagate, type PropagateFlags } from './propagate.ts';
import { why, type WhyFlags } from './why.ts';

const MISSING = 'user "dana" may not place in cluster "birch": needs verb place on clusters.asterism.dev "birch"';
const NOT_SHOWN =
  '1 more cluster is not shown: no right to place there (user "dana" needs verb place on clusters.asterism.dev)';
const READ = ['get', 'list'];

const policyFor = (name: string, placement: object = {}): KubeObject =>
  policyOf(name, placement, { resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap', name }] });
const configMap = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'demo' },
  data: { word: 'open' },
});

describe('a right that is missing', () => {
  let fleet: PlacedFleet;
  let folder: string;

  /** `dana` may place in `alder` only. `erin` may too, and reads clusters; `rick` reads clusters. */
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aster-rights-'));
    fleet = await startPlacedFleet('alder', 'birch');
    const asterism = { apiGroups: ['asterism.dev'] };
    for (const name of ['dana', 'erin', 'rick']) {
      const user = { kind: 'User' as const, name };
      await apply(fleet.hub, [
        ...grant(name, user, { apiGroups: [''], resources: ['configmaps'], verbs: [...READ, 'create', 'patch'] }),
        ...grant(`${name}-bindings`, user, { ...asterism, resources: ['resourcebindings'], verbs: READ }),
      ]);
      if (name !== 'dana') {
        const resources = ['clusters', 'propagationpolicies', 'clusterpropagationpolicies'];
        await apply(fleet.hub, grant(`${name}-reads`, user, { ...asterism, resources, verbs: READ }));
      }
      if (name === 'rick') continue;
      const place = { ...asterism, resources: ['clusters'], resourceNames: ['alder'], verbs: ['place'] };
      const resources = ['propagationpolicies'];
      await apply(fleet.hub, [
        ...grant(`${name}-places`, user, place),
        ...grant(`${name}-writes`, user, { ...asterism, resources, verbs: [...READ, 'create', 'patch'] }),
      ]);
    }
    const dana = await fleet.fleet.person('dana');
    await apply(dana, [configMap('settings'), policyFor('settings')]);
    await fleet.binding('settings-configmap', ({ status }) => status?.aggregatedStatus?.[0]?.applied === true);
    await untilObject(
      fleet.member('alder').client,
      CONFIG_MAPS,
      { namespace: 'demo', name: 'settings' },
      (found) => !!found,
    );
  });
  after(async () => {
    await fleet[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  const common = async (user: string | undefined) => ({
    kubeconfig: user === undefined ? fleet.kubeconfig : await fleet.kubeconfigOf(user),
    namespace: 'demo',
  });
  const explain = async (user: string | undefined, flags: WhyFlags = {}) => {
    const terminal = fakeTerminal();
    assert.equal(await why(['configmap/settings'], { ...(await common(user)), ...flags }, terminal), EXIT.fine);
    return terminal;
  };
  const preview = async (user: string | undefined, words: string[], flags: PropagateFlags = {}) => {
    const terminal = fakeTerminal();
    await propagate(words, { ...(await common(user)), dryRun: true, ...flags }, terminal);
    return terminal;
  };
  const compare = async (words: string[], flags: DiffFlags = {}) => {
    const terminal = fakeTerminal();
    const code = await diff(words, { ...(await common(undefined)), ...flags }, terminal);
    return { code, ...terminal };
  };
  const file = async (name: string, object: KubeObject): Promise<string> => {
    await writeFile(join(folder, name), JSON.stringify(object));
    return join(folder, name);
  };

  test('why: the tenant reads of no cluster where they may not place, and how many there are', async () => {
    const { stdout, stderr } = await explain('dana');
    assert.match(stdout, /^alder +yes .* matches the policy$/m);
    assert.ok(stdout.includes(`\n${NOT_SHOWN}\n`), stdout);
    assert.ok(stdout.includes('\nThe policy places with the rights of user "dana"\n'), stdout);
    assert.doesNotMatch(stdout + stderr, /birch/);
    assert.doesNotMatch((await explain('dana', { output: 'json' })).stdout, /birch/);
  });

  test('why: an administrator reads which right is missing in each cluster', async () => {
    const { stdout } = await explain(undefined);
    assert.match(stdout, /^alder +yes .* matches the policy$/m);
    assert.match(stdout, /^birch +no +0 .*NotPermitted +/m);
    assert.ok(stdout.includes(` ${MISSING}\n`), stdout);
    assert.doesNotMatch(stdout, /not shown/);
    const json = await explain(undefined, { output: 'json', clusters: 'birch' });
    const answer = JSON.parse(json.stdout) as { decisions: Decision[]; hiddenClusters?: object };
    assert.deepEqual(answer.decisions, [
      { cluster: 'birch', selected: false, reason: 'NotPermitted', message: MISSING },
    ]);
    assert.equal('hiddenClusters' in answer, false);
  });

  test('why: a reader of clusters sees them, though not who lacks the right', async () => {
    const { stdout } = await explain('rick');
    assert.match(stdout, /^birch +no .*NotPermitted +no right to place there/m);
  });

  test('why and previews: a policy that may place nowhere is passed over for that', async () => {
    const strong = policyOf('strong', {}, { priority: 9, preemption: 'Always' });
    const powerless = {
      apiGroups: ['asterism.dev'],
      resources: ['clusters'],
      resourceNames: ['birch'],
      verbs: ['place'],
    };
    const user = { kind: 'User' as const, name: 'erin' };
    const deployments = { apiGroups: ['apps'], resources: ['deployments'], verbs: READ };
    await apply(fleet.hub, [...grant('erin-birch', user, powerless), ...grant('erin-deploys', user, deployments)]);
    await apply(await fleet.fleet.person('erin'), [strong]);
    await fleet.binding('web-deployment', ({ spec }) => spec.policy?.name === 'strong');
    for (const name of ['erin-places', 'erin-birch']) await fleet.hub.resource(CLUSTER_ROLE_BINDINGS).delete({ name });
    await fleet.binding('web-deployment', ({ spec }) => spec.policy?.name === 'web');
    const line =
      'Not by PropagationPolicy strong: it may place it nowhere: user "erin" may not place in cluster "alder"';
    const terminal = fakeTerminal();
    await why(['deploy/web'], await common(undefined), terminal);
    assert.ok(terminal.stdout.includes(line), terminal.stdout);
    const { stdout } = await preview(undefined, ['deploy/web']);
    assert.ok(stdout.includes(line), stdout);
    await fleet.hub.resource(PROPAGATION_POLICIES).delete({ namespace: 'demo', name: 'strong' });
    await apply(fleet.hub, grant('erin-again', user, { ...powerless, resourceNames: ['alder'] }));
  });

  test('propagate --dry-run of what is placed: nothing would change, and the missing right is named', async () => {
    const { stdout, stderr } = await preview(undefined, ['configmap/settings']);
    assert.match(stdout, /^alder +yes +yes +Selected/m);
    assert.match(stdout, /^birch +- +- +NotPermitted +/m);
    assert.ok(stdout.includes(` ${MISSING}\n`), stdout);
    assert.ok(stdout.includes('\nThe policy places with the rights of user "dana"\n'), stdout);
    assert.match(stderr, /^0 of 1 template would change/m);
    const json = await preview(undefined, ['configmap/settings'], { output: 'json' });
    const [template] = (JSON.parse(json.stdout) as { templates: { authority: string; clusters: object[] }[] })
      .templates;
    assert.equal(template?.authority, 'user "dana"');
    assert.ok(json.stdout.includes(JSON.stringify(MISSING)), json.stdout);
  });

  test('propagate --dry-run -f: a placement that the rights refuse shows as such, to its author too', async () => {
    await apply(await fleet.fleet.person('erin'), [configMap('motto')]);
    const only = { clusterAffinity: { clusterNames: ['birch'] } };
    const path = await file('motto.json', policyFor('motto', only));
    const { stdout, stderr } = await preview('erin', [], { filename: [path] });
    assert.match(stderr, /taken as it is written, .* cannot place resource "clusters" named "birch"/);
    assert.match(
      stdout,
      /; it cannot be placed so: none of 2 clusters can take it: 1 by ClusterAffinity, 1 by NotPermitted/,
    );
    assert.ok(stdout.includes(MISSING.replace('dana', 'erin')), stdout);
  });

  test('propagate --dry-run: whoever may not ask for the rights of others is told that they are not checked', async () => {
    const { stderr } = await preview('rick', ['configmap/settings']);
    assert.match(stderr, /^rights are not checked, so the hub may refuse what is shown: .*subjectaccessreviews/m);
  });

  test('propagate: by the rights of the administrator nothing is missing', async () => {
    const { stdout } = await preview(undefined, ['deploy/web']);
    assert.doesNotMatch(stdout, /NotPermitted|rights/);
  });

  test('diff: what is placed, and what files would place', async () => {
    const { stderr, code } = await compare(['configmap/settings']);
    assert.ok(stderr.includes(`ConfigMap demo/settings: ${NOT_SHOWN}\n`), stderr);
    assert.equal(code, EXIT.fine);
    const path = await file('settings.json', { ...configMap('settings'), data: { word: 'shut' } });
    const imagined = await compare([], { filename: [path] });
    assert.ok(
      imagined.stderr.includes(`ConfigMap demo/settings is not placed in birch: ${MISSING}\n`),
      imagined.stderr,
    );
    assert.match(imagined.stdout, /^alder: ConfigMap demo\/settings differs$/m);
    assert.doesNotMatch(imagined.stdout, /birch/);
  });

  test('nothing in the namespace of the tenant names the cluster', async () => {
    const { items } = await fleet.hub.resource(RESOURCE_BINDINGS).list({ namespace: 'demo' });
    const own = items.filter(({ spec }) => spec.resource.name === 'settings');
    assert.equal(own.length, 1);
    assert.doesNotMatch(JSON.stringify(own), /birch/);
  });
});

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startTestServer } from '@asterism/apiserver/testing';
import { customResourceDefinitions } from '@asterism/fleet/api';
import { NAMESPACES } from '@asterism/machinery';
import { apply } from '../../../hub/src/testing/test-fleet.ts';
import { grant } from '../../../hub/src/testing/grant.ts';
import { EXIT } from '../exit-code.ts';
import { fakeTerminal } from '../testing/fake-hub.ts';
import { overrideOf, type PlacedFleet, policyOf, startPlacedFleet, web } from '../testing/placed-fleet.ts';
import { why, type WhyFlags } from './why.ts';

const DEPLOYMENT = { apiVersion: 'apps/v1', kind: 'Deployment' };

describe('aster why', () => {
  let fleet: PlacedFleet;

  before(async () => {
    fleet = await startPlacedFleet('alder', 'birch');
    const override = overrideOf('tag', 'birch', {
      imageOverrider: [{ component: 'Tag', operator: 'replace', value: '2' }],
    });
    await apply(fleet.hub, [override, policyOf('zoo', {}, { priority: -1 })]);
  });
  after(() => fleet[Symbol.asyncDispose]());

  const run = async (flags: WhyFlags = {}) => {
    const terminal = fakeTerminal();
    assert.equal(
      await why(['deploy/web'], { kubeconfig: fleet.kubeconfig, namespace: 'demo', ...flags }, terminal),
      EXIT.fine,
    );
    return terminal;
  };

  test('tells of each cluster reason, score and room; which policy goes before which, and what is overridden where', async () => {
    const { stdout, stderr } = await run();
    assert.equal(stderr, '');
    assert.match(stdout, /^Deployment demo\/web, 6 replicas, placed by PropagationPolicy web: placed in 2 clusters$/m);
    assert.match(stdout, /^Not by PropagationPolicy zoo: it has priority -1, lower than 0$/m);
    assert.match(stdout, /^CLUSTER +CHOSEN +REPLICAS +SCORE +ROOM +REASON +WHY$/m);
    assert.match(stdout, /^alder +yes +3 +\d+ +\d+ +Selected +gets 3 of 6 replicas: weight 1 of 2$/m);
    assert.match(stdout, /^Overridden in birch by demo\/tag$/m);
  });

  test('-o json has all of it, of the clusters asked for', async () => {
    const { stdout } = await run({ output: 'json', clusters: 'birch' });
    const answer = JSON.parse(stdout) as Record<string, unknown> & { decisions: { cluster: string }[] };
    assert.deepEqual(
      answer.decisions.map(({ cluster }) => cluster),
      ['birch'],
    );
    assert.deepEqual(answer['overrides'], { birch: ['demo/tag'] });
    const zoo = { kind: 'PropagationPolicy', namespace: 'demo', name: 'zoo', why: 'has priority -1, lower than 0' };
    assert.deepEqual([answer['passedOver'], answer['notApplied'], answer['unappliedOverrides']], [[zoo], [], []]);
  });

  test('what the caller may not read is named, and all else told', async () => {
    const ann = { kind: 'User' as const, name: 'ann' };
    const resources = ['deployments', 'resourcebindings'];
    await apply(fleet.hub, grant('ann', ann, { apiGroups: ['*'], resources, verbs: ['get', 'list'] }));
    const { stdout, stderr } = await run({ kubeconfig: await fleet.kubeconfigOf('ann') });
    assert.match(stdout, /^alder +yes +3 /m);
    assert.match(stderr, /^which other policies select it is not told: Error from server \(Forbidden\): /m);
    assert.match(stderr, /^which overrides change it is not told: /m);
  });
});

test('where no policy selects a template, those are named that were meant to and cannot', async () => {
  await using hub = await startTestServer({ crds: await customResourceDefinitions() });
  const folder = await mkdtemp(join(tmpdir(), 'asterism-why-'));
  try {
    const kubeconfig = await hub.kubeconfig(join(folder, 'kubeconfig'));
    for (const name of ['demo', 'ops']) await hub.client.resource(NAMESPACES).create({ metadata: { name } });
    const elsewhere = policyOf('web', {}, { resourceSelectors: [{ ...DEPLOYMENT, namespace: 'demo' }] });
    await apply(hub.client, [
      web(1),
      { ...elsewhere, metadata: { name: 'web', namespace: 'ops' } },
      policyOf('labels', {}, { resourceSelectors: [{ ...DEPLOYMENT, labelSelector: { matchLabels: { 'a b': '' } } }] }),
    ]);
    const terminal = fakeTerminal();
    assert.equal(await why(['deploy/web'], { kubeconfig, namespace: 'demo' }, terminal), EXIT.fine);
    assert.match(terminal.stdout, /^Deployment demo\/web is placed nowhere: no policy selects it\.$/m);
    assert.match(
      terminal.stdout,
      /^Not by PropagationPolicy web: it selects nothing by spec\.resourceSelectors\[0\]\.namespace: .*say "ops"/m,
    );
    assert.match(terminal.stdout, /^Not by PropagationPolicy labels: it selects nothing by .*labelSelector: .*"a b"/m);
  } finally {
    await rm(folder, { recursive: true });
  }
});

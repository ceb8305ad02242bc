import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import { CLUSTERS, PROPAGATION_POLICIES } from '@asterism/fleet/api';
import { CONFIG_MAPS, DEPLOYMENTS, HORIZONTAL_POD_AUTOSCALERS_V1, type KubeObject } from '@asterism/machinery';
import { grant } from '../../../hub/src/testing/grant.ts';
import { apply } from '../../../hub/src/testing/test-fleet.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import { fakeTerminal } from '../testing/fake-hub.ts';
import { overrideOf, type PlacedFleet, policyOf, startPlacedFleet, web } from '../testing/placed-fleet.ts';
import { diff, type DiffFlags } from './diff.ts';

const WEB = { namespace: 'demo', name: 'web' };

describe('aster diff', () => {
  let fleet: PlacedFleet;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aster-diff-'));
    fleet = await startPlacedFleet('alder', 'birch');
  });
  after(async () => {
    await fleet[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  const run = async (words: string[], flags: DiffFlags = {}) => {
    const terminal = fakeTerminal();
    const code = await diff(words, { kubeconfig: fleet.kubeconfig, namespace: 'demo', ...flags }, terminal);
    return { code, stdout: terminal.stdout, stderr: terminal.stderr };
  };
  const file = async (name: string, ...items: object[]): Promise<string> => {
    await writeFile(join(folder, name), JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    return join(folder, name);
  };
  const versions = () =>
    Promise.all(
      ['alder', 'birch'].map(async (name) => {
        const { items } = await fleet.member(name).client.resource(DEPLOYMENTS).list();
        return items.map(({ metadata }) => `${metadata?.name} ${metadata?.resourceVersion}`);
      }),
    );

  test('is silent and ends with 0 where all stands as it shall, what others write into it aside', async () => {
    const birch = fleet.member('birch').client.resource(DEPLOYMENTS);
    const body = { metadata: { annotations: { 'example.com/by': 'a member' } } };
    await birch.patch(WEB, { type: 'merge', body }, { fieldManager: 'somebody' });
    assert.deepEqual(await run(['deploy/web']), { code: EXIT.fine, stdout: '', stderr: '' });
    assert.deepEqual(await run([], { all: true }), { code: EXIT.fine, stdout: '', stderr: '' });
  });

  test('-f tells what files would change in each cluster, and changes nothing', async () => {
    const before = await versions();
    const override = overrideOf('tag', 'birch', {
      imageOverrider: [{ component: 'Tag', operator: 'replace', value: '2' }],
    });
    const { code, stdout, stderr } = await run([], { filename: [await file('more.json', web(10), override)] });
    assert.equal(code, 1);
    assert.equal(stderr, '');
    const [, ofAlder = '', ofBirch = ''] = stdout.split(/^(?:alder|birch): Deployment demo\/web differs\n/m);
    const changed = (text: string) => text.split('\n').filter((line) => /^[-+]/.test(line));
    assert.deepEqual(changed(ofAlder), ['--- alder/live', '+++ alder/wanted', '-  replicas: 3', '+  replicas: 5']);
    assert.deepEqual(changed(ofBirch), [
      '--- birch/live',
      '+++ birch/wanted',
      '-  replicas: 3',
      '+  replicas: 5',
      '-        - image: nginx:1.29',
      '+        - image: nginx:2',
    ]);
    assert.deepEqual(await versions(), before);
  });

  test('-f of a policy tells where templates would come and go', async () => {
    const policy = policyOf('web', { clusterAffinity: { clusterNames: ['alder'] } });
    const { code, stdout } = await run([], { filename: [await file('alder.json', policy)] });
    assert.equal(code, 1);
    assert.match(stdout, /^alder: Deployment demo\/web differs$/m);
    assert.match(stdout, /^birch: Deployment demo\/web is to be removed\n--- birch\/live\n\+\+\+ \/dev\/null$/m);
    const cart = { ...web(2), metadata: { name: 'cart', namespace: 'demo' } };
    const added = await run([], { filename: [await file('cart.json', cart)], clusters: 'birch' });
    assert.match(added.stdout, /^birch: Deployment demo\/cart is missing\n--- \/dev\/null\n\+\+\+ birch\/wanted$/m);
    // What the member itself would put in, by its dry run.
    assert.match(added.stdout, /^\+ {2}progressDeadlineSeconds: 600$/m);
    assert.doesNotMatch(added.stdout, /^alder/m);
  });

  test('what an autoscaler there has scaled is no difference', async () => {
    const client = fleet.member('birch').client;
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
    await client
      .resource(HORIZONTAL_POD_AUTOSCALERS_V1)
      .create({ metadata: WEB, spec: { scaleTargetRef, maxReplicas: 9 } });
    await client.resource(DEPLOYMENTS).patch(WEB, { type: 'merge', body: { spec: { replicas: 5 } } });
    assert.deepEqual(await run(['deploy/web']), { code: EXIT.fine, stdout: '', stderr: '' });
    await client.resource(DEPLOYMENTS).patch(WEB, { type: 'merge', body: { spec: { replicas: 3 } } });
    await client.resource(HORIZONTAL_POD_AUTOSCALERS_V1).delete(WEB);
  });

  test('what somebody else made there is told as not ours', async () => {
    const notes: KubeObject = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'notes', namespace: 'demo' },
      data: { colour: 'green' },
    };
    await fleet
      .member('birch')
      .client.resource(CONFIG_MAPS)
      .create({ ...notes, data: { colour: 'blue' } } as never);
    const resourceSelectors = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'notes' }];
    const policy = policyOf('notes', {}, { resourceSelectors });
    await apply(fleet.hub, [notes, policy]);
    await fleet.binding('notes-configmap', ({ status }) => status?.aggregatedStatus?.length === 2);
    await untilObject(
      fleet.member('alder').client,
      CONFIG_MAPS,
      { namespace: 'demo', name: 'notes' },
      (found) => !!found,
    );
    const { code, stdout } = await run(['configmap/notes']);
    assert.equal(code, 1);
    assert.match(stdout, /^birch: ConfigMap demo\/notes is not ours: it exists already and was not placed by Asterism/);
    assert.match(stdout, /^-  colour: blue\n\+  colour: green$/m);
    const further = { resourceSelectors, conflictResolution: 'Overwrite', suspension: { dispatching: true } };
    const taken = await run([], { filename: [await file('take.json', policyOf('notes', {}, further))] });
    assert.match(taken.stdout, /^birch: ConfigMap demo\/notes is to be taken over, .* \(dispatching is suspended\)$/m);
    await fleet.hub.resource(PROPAGATION_POLICIES).delete({ namespace: 'demo', name: 'notes' });
  });

  test('an override that cannot be applied, and an object that the member refuses, are told of that cluster', async () => {
    const override = (operation: object) => overrideOf('bad', 'birch', { plaintext: [operation] });
    const missing = override({ operator: 'replace', path: '/spec/nothing', value: 1 });
    const held = await run(['deploy/web'], { filename: [await file('held.json', missing)] });
    assert.equal(held.code, 1);
    assert.equal(held.stdout, 'birch: Deployment demo/web is held back, for an override cannot be applied\n');
    assert.match(
      held.stderr,
      /^birch: Deployment demo\/web stays as it is: OverridePolicy demo\/bad, rule 0, plaintext\[0\]: /,
    );
    const invalid = override({ operator: 'replace', path: '/spec/template/spec/containers/0/image', value: '' });
    const refused = await run(['deploy/web'], { filename: [await file('invalid.json', invalid)] });
    assert.equal(refused.code, 1);
    assert.match(refused.stdout, /^birch: Deployment demo\/web would be refused: .*image/);
  });

  test('a caller who may only read in the members is told by fields, and why', async () => {
    const people = { kind: 'User' as const, name: 'ann' };
    const all = { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] };
    const proxy = { apiGroups: ['proxy.asterism.dev'], resources: ['clusters/proxy'], verbs: ['*'] };
    await apply(fleet.hub, [...grant('readers', people, all), ...grant('reachers', people, proxy)]);
    const reads = { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list'] };
    for (const name of ['alder', 'birch']) await apply(fleet.member(name).client, grant('readers', people, reads));
    const kubeconfig = await fleet.kubeconfigOf('ann');
    const quiet = await run(['deploy/web'], { kubeconfig });
    assert.deepEqual([quiet.code, quiet.stdout], [EXIT.fine, '']);
    assert.match(
      quiet.stderr,
      /^alder: compared field by field, for a dry run is not to be had there: .*cannot patch/m,
    );
    const { code, stdout, stderr } = await run([], { kubeconfig, filename: [await file('ten.json', web(10))] });
    assert.equal(code, 1);
    assert.match(stderr, /^birch: whether an autoscaler has given the replicas is not known: .*cannot list/m);
    assert.match(stderr, /^Deployment demo\/web is taken as it is written, for the hub cannot be asked: /m);
    const changes = stdout.split('\n').filter((line) => /^[-+] /.test(line));
    assert.deepEqual(changes, ['-  replicas: 3', '+  replicas: 5', '-  replicas: 3', '+  replicas: 5']);
  });

  test('a cluster that does not answer is named, and the code says so', async () => {
    const [first] = (await fleet.hub.resource(CLUSTERS).list()).items;
    assert.ok(first);
    const { name: _, ...rest } = first.metadata;
    const gone = {
      ...first,
      metadata: { name: 'cedar', labels: rest.labels ?? {} },
      spec: { ...first.spec, id: 'cedar' },
    };
    await fleet.hub.resource(CLUSTERS).create(gone);
    const body = [{ op: 'add', path: '/status', value: first.status }];
    await fleet.hub.resource(CLUSTERS).patch({ name: 'cedar' }, { type: 'json', body }, { subresource: 'status' });
    const beside = await run(['deploy/web']);
    assert.equal(beside.code, EXIT.fine);
    assert.match(beside.stderr, /^cedar: whether Deployment demo\/web was left there is not known: /);
    const duplicated = { replicaScheduling: { replicaSchedulingType: 'Duplicated' } };
    const everywhere = policyOf('web', { ...duplicated, clusterTolerations: [{ operator: 'Exists' }] });
    const { code, stdout, stderr } = await run([], { filename: [await file('everywhere.json', everywhere)] });
    assert.equal(code, EXIT.partial);
    assert.match(stdout, /^alder: Deployment demo\/web differs$/m);
    assert.match(stderr, /^cedar: Error from server/m);
    const alone = await run([], { filename: [await file('everywhere.json', everywhere)], clusters: 'cedar' });
    assert.equal(alone.code, EXIT.undecided);
    await fleet.hub.resource(CLUSTERS).delete({ name: 'cedar' });
  });

  test('a template that no policy selects is placed nowhere', async () => {
    await fleet.hub.resource(CONFIG_MAPS).create({ metadata: { name: 'free', namespace: 'demo' } } as never);
    assert.deepEqual(await run(['configmap/free']), {
      code: EXIT.fine,
      stdout: '',
      stderr: 'ConfigMap demo/free is placed nowhere: no policy selects it\n',
    });
  });

  test('what cannot be asked ends with more than 1', async () => {
    const ends = (code: number) => (error: unknown) => error instanceof CommandError && error.exitCode === code;
    await assert.rejects(run(['deploy/nothing']), ends(EXIT.undecided));
    await assert.rejects(run([]), ends(EXIT.usage));
    await assert.rejects(run(['deploy/web'], { all: true }), ends(EXIT.usage));
  });
});

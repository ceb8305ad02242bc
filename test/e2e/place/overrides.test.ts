import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Overriders } from '@asterism/fleet/api';
import { CONFIG_MAPS, type Deployment, DEPLOYMENTS, type KubeObject } from '@asterism/machinery';
import { runAster } from '../../cluster/aster.ts';
import { describePlacing } from '../../cluster/placing/describe-placing.ts';
import { only, Scene, selectorOf } from '../../cluster/placing/scene.ts';

const APP_YAML = '# of the app\nlevel: info\nport: 80\nold: true\n';
const APP_JSON = '{"level":"info","port":80,"old":true}';

/** Where an override is for, and what is expected there; elsewhere nothing changes. */
const MAPS: Readonly<Record<string, [Overriders, Record<string, string | undefined>]>> = {
  yaml: [
    {
      fieldOverrider: [
        {
          fieldPath: '/data/app.yaml',
          yaml: [
            { subPath: '/level', operator: 'replace', value: 'debug' },
            { subPath: '/added', operator: 'add', value: [1] },
            { subPath: '/old', operator: 'remove' },
          ],
        },
      ],
    },
    { 'app.yaml': '# of the app\nlevel: debug\nport: 80\nadded:\n  - 1\n' },
  ],
  json: [
    {
      fieldOverrider: [
        {
          fieldPath: '/data/app.json',
          json: [
            { subPath: '/level', operator: 'replace', value: 'debug' },
            { subPath: '/old', operator: 'remove' },
            { subPath: '/added', operator: 'add', value: 1 },
          ],
        },
      ],
    },
    { 'app.json': '{"level":"debug","port":80,"added":1}' },
  ],
  'yaml-merged': [
    { fieldOverrider: [{ fieldPath: '/data/app.yaml', yamlMergePatch: 'level: warn\nold: null\n' }] },
    { 'app.yaml': '# of the app\nlevel: warn\nport: 80\n' },
  ],
  'json-merged': [
    { fieldOverrider: [{ fieldPath: '/data/app.json', jsonMergePatch: { level: 'warn' } }] },
    { 'app.json': '{"level":"warn","port":80,"old":true}' },
  ],
  patched: [
    {
      plaintext: [
        { path: '/data/plain', operator: 'test', value: 'text' },
        { path: '/data/copied', operator: 'copy', from: '/data/plain' },
        { path: '/data/moved', operator: 'move', from: '/data/plain' },
        { path: '/data/added', operator: 'add', value: 'more' },
        { path: '/data/app.json', operator: 'replace', value: '{}' },
        { path: '/data/app.yaml', operator: 'remove' },
      ],
    },
    { copied: 'text', moved: 'text', added: 'more', plain: undefined, 'app.json': '{}', 'app.yaml': undefined },
  ],
  merged: [{ mergePatch: [{ data: { added: 'more' } }, 'data: {plain: null}\n'] }, { added: 'more', plain: undefined }],
};

/** Everything that an override policy says. */
describePlacing('what differs where', { simulated: ['alder', 'cedar'] }, (fleet) => {
  let scene: Scene;
  before(async () => {
    scene = await Scene.open(fleet(), 'overridden');
    const objects = Object.entries(MAPS).flatMap(([name, [overriders]]) => {
      const data = { 'app.yaml': APP_YAML, 'app.json': APP_JSON, plain: 'text' };
      const map = scene.configMap(name, { data });
      const overrideRules = [{ targetCluster: { clusterNames: ['oak'] }, overriders }];
      const override = scene.override(name, { resourceSelectors: [selectorOf(map)], overrideRules });
      return [override, map, scene.policyFor(map, { placement: only('cedar', 'oak') })];
    });
    // The overrides first: what is placed shall never be seen without them.
    await scene.apply(...objects);
  });

  for (const [name, [, expected]] of Object.entries(MAPS)) {
    test(`a ConfigMap ${name.replaceAll('-', ' ')}`, async () => {
      await scene.placed(`${name}-configmap`, ['cedar', 'oak']);
      const [oak, cedar] = await Promise.all(['oak', 'cedar'].map((at) => scene.inMember(at, CONFIG_MAPS, name)));
      for (const [key, text] of Object.entries(expected)) assert.equal(oak?.data?.[key], text, key);
      assert.deepEqual(cedar?.data, { 'app.yaml': APP_YAML, 'app.json': APP_JSON, plain: 'text' });
    });
  }

  test('images, words, labels and annotations of a workload, by both kinds of policy, in their order', async () => {
    const web = workload(scene);
    const rules = (overriders: Overriders) => [{ targetCluster: { clusterNames: ['oak'] }, overriders }];
    await scene.apply(
      scene.clusterOverride('images', {
        resourceSelectors: [
          { apiVersion: 'apps/v1', kind: 'Deployment', labelSelector: { matchLabels: { unwanted: 'x' } } },
        ],
        overrideRules: rules({
          imageOverrider: [
            { component: 'Registry', operator: 'replace', value: 'mirror.example' },
            { component: 'Repository', operator: 'add', value: '-slim', initContainers: false },
            { component: 'Tag', operator: 'remove', predicate: { path: '/spec/template/spec/containers/0/image' } },
          ],
          labelsOverrider: [{ operator: 'add', value: { from: 'cluster' } }],
        }),
      }),
      scene.override('words', {
        resourceSelectors: [selectorOf(web)],
        overrideRules: rules({
          imageOverrider: [
            {
              component: 'Digest',
              operator: 'add',
              value: `sha256:${'0'.repeat(64)}`,
              predicate: { path: '/spec/template/spec/containers/0/image' },
            },
          ],
          commandOverrider: [{ containerName: 'main', operator: 'remove', value: ['--slow'] }],
          argsOverrider: [{ containerName: 'main', operator: 'add', value: ['--here'] }],
          labelsOverrider: [
            { operator: 'replace', value: { from: 'namespace' } },
            { operator: 'remove', value: { unwanted: '' } },
          ],
          annotationsOverrider: [{ operator: 'add', value: { 'example.org/at': 'oak' } }],
        }),
      }),
      web,
      scene.policyFor(web, { placement: only('cedar', 'oak') }),
    );
    await scene.placed('web-deployment', ['cedar', 'oak']);
    const oak = await scene.inMember('oak', DEPLOYMENTS, 'web');
    const digest = `sha256:${'0'.repeat(64)}`;
    assert.deepEqual(imagesOf(oak), [`mirror.example/main-slim@${digest}`, 'mirror.example/init:1']);
    const [main] = oak.spec?.template?.spec?.containers ?? [];
    assert.deepEqual([main?.command, main?.args], [['serve'], ['--loud', '--here']]);
    assert.equal(oak.metadata?.labels?.['from'], 'namespace');
    assert.equal(oak.metadata?.labels?.['unwanted'], undefined);
    assert.equal(oak.metadata?.annotations?.['example.org/at'], 'oak');
    const cedar = await scene.inMember('cedar', DEPLOYMENTS, 'web');
    assert.deepEqual(imagesOf(cedar), ['registry.example/main:1', 'registry.example/init:1']);
    await scene.kubectl('delete', 'op', 'words');
    await scene.inMember('oak', DEPLOYMENTS, 'web', ({ metadata }) => metadata?.labels?.['from'] === 'cluster');
  });

  test('what is invalid in one member alone: that one says so and keeps what it has, the others go on', async () => {
    const web = scene.deployment('broken', 1);
    await scene.apply(web, scene.policyFor(web, { placement: only('alder', 'cedar', 'oak') }));
    await scene.placed('broken-deployment', ['alder', 'cedar', 'oak']);
    const overrideRules = [
      {
        targetCluster: { clusterNames: ['oak'] },
        overriders: { plaintext: [{ path: '/spec/minReadySeconds', operator: 'add' as const, value: -1 }] },
      },
    ];
    await scene.apply(scene.override('broken', { resourceSelectors: [selectorOf(web)], overrideRules }));
    await scene.kubectl('set', 'image', 'deployment/broken', 'main=registry.example/app:2');
    for (const cluster of ['alder', 'cedar']) {
      await scene.inMember(cluster, DEPLOYMENTS, 'broken', (live) => imagesOf(live)[0] === 'registry.example/app:2');
    }
    const { status } = await scene.binding(
      'broken-deployment',
      ({ status }) =>
        status?.aggregatedStatus?.some(
          ({ applied, appliedMessage }) => !applied && appliedMessage?.includes('minReady'),
        ) === true,
    );
    assert.deepEqual(
      status?.aggregatedStatus?.map(({ clusterName, applied }) => [clusterName, applied]),
      [
        ['alder', true],
        ['cedar', true],
        ['oak', false],
      ],
    );
    assert.deepEqual(imagesOf(await scene.inMember('oak', DEPLOYMENTS, 'broken')), ['registry.example/app:1']);
    const why = await runAster(['why', 'deploy/broken', '-n', scene.namespace], {
      KUBECONFIG: scene.fleet.kubeconfig,
    });
    assert.match(why, /Not applied in oak: .*minReadySeconds.*by override policy overridden\/broken/);
    await scene.kubectl('delete', 'op', 'broken');
    await scene.placed('broken-deployment', ['alder', 'cedar', 'oak']);
    await scene.inMember('oak', DEPLOYMENTS, 'broken', (live) => imagesOf(live)[0] === 'registry.example/app:2');
  });

  test('a rule that cannot be applied holds one cluster back; one that changes nothing is told', async () => {
    const map = scene.configMap('held-back');
    const rule = (cluster: string, overriders: Overriders) => ({
      targetCluster: { clusterNames: [cluster] },
      overriders,
    });
    const overrideRules = [
      rule('oak', { plaintext: [{ path: '/data/absent', operator: 'replace', value: 'x' }] }),
      rule('cedar', { imageOverrider: [{ component: 'Tag', operator: 'replace', value: '2' }] }),
    ];
    await scene.apply(
      scene.override('held-back', { resourceSelectors: [selectorOf(map)], overrideRules }),
      map,
      scene.policyFor(map, { placement: only('cedar', 'oak') }),
    );
    const { status } = await scene.binding('held-back-configmap', (binding) =>
      (binding.status?.aggregatedStatus ?? []).some(({ applied }) => applied === true),
    );
    assert.deepEqual(
      status?.unappliedOverrides?.map(({ reason, rule: index, clusters }) => [reason, index, clusters]),
      [
        ['Failed', 0, ['oak']],
        ['NoEffect', 1, ['cedar']],
      ],
    );
    await scene.assertStands('held-back', ['cedar'], ['cedar', 'oak']);
  });
});

function workload(scene: Scene): KubeObject {
  const labels = { app: 'web' };
  const main = { name: 'main', image: 'registry.example/main:1', command: ['serve', '--slow'], args: ['--loud'] };
  const initContainers = [{ name: 'init', image: 'registry.example/init:1' }];
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...scene.ref('web'), labels: { unwanted: 'x' } },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [main], initContainers } },
    },
  };
}

function imagesOf({ spec }: Deployment): (string | undefined)[] {
  const { containers = [], initContainers = [] } = spec?.template?.spec ?? {};
  return [...containers, ...initContainers].map(({ image }) => image);
}

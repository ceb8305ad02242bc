import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type KubeObject, valueAtPointer } from '@asterism/machinery';
import type { ClusterOverridePolicy, OverridePolicy, Overriders, ResourceSelector } from '../../api/index.ts';
import { cluster, deployment } from '../../place/testing/build.ts';
import { applyOverrides, type Overridden } from './apply-overrides.ts';

type Rules = OverridePolicy['spec']['overrideRules'];

const policy = (name: string, overrideRules: Rules, resourceSelectors?: ResourceSelector[]): OverridePolicy => ({
  apiVersion: 'asterism.dev/v1alpha1',
  kind: 'OverridePolicy',
  metadata: { name, namespace: 'demo' },
  spec: { overrideRules, ...(resourceSelectors ? { resourceSelectors } : {}) },
});
const clusterPolicy = (name: string, overrideRules: Rules, selectors?: ResourceSelector[]): ClusterOverridePolicy => ({
  ...policy(name, overrideRules, selectors),
  kind: 'ClusterOverridePolicy',
  metadata: { name },
});
const rule = (overriders: Overriders, targetCluster?: Rules[number]['targetCluster']): Rules[number] => ({
  overriders,
  ...(targetCluster ? { targetCluster } : {}),
});
const annotate = (key: string, value: string) =>
  rule({ annotationsOverrider: [{ operator: 'add', value: { [key]: value } }] });
const web: ResourceSelector = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
const anyDeployment: ResourceSelector = { apiVersion: 'apps/v1', kind: 'Deployment' };

const template = deployment(3, {
  labels: { tier: 'gold' },
  podSpec: {
    containers: [
      { name: 'web', image: 'nginx:1.29', args: ['-a', '-b'] },
      { name: 'side', image: 'quay.io/side/car:2' },
    ],
    initContainers: [{ name: 'init', image: 'busybox:1' }],
  },
});
const ant = cluster('ant', { region: 'eu' });

const pods = ['spec', 'template', 'spec'];
const images = (object: KubeObject) =>
  ['containers', 'initContainers'].flatMap((field) =>
    (valueAtPointer(object, [...pods, field]) as { image: string }[]).map(({ image }) => image),
  );

const told = ({ unapplied }: Overridden) =>
  unapplied.map(({ reason, overrider, message }) => `${reason} ${overrider ? `${overrider}: ` : ''}${message}`);

describe('one overrider', () => {
  const rows: {
    name: string;
    overriders: Overriders;
    look: (object: KubeObject) => unknown;
    expected: unknown;
    noEffect?: string;
  }[] = [
    {
      name: 'registry of every container and init container',
      overriders: { imageOverrider: [{ component: 'Registry', operator: 'replace', value: 'eu.example.com' }] },
      look: images,
      expected: ['eu.example.com/nginx:1.29', 'eu.example.com/side/car:2', 'eu.example.com/busybox:1'],
    },
    {
      name: 'registry removed',
      overriders: { imageOverrider: [{ component: 'Registry', operator: 'remove' }] },
      look: images,
      expected: ['nginx:1.29', 'side/car:2', 'busybox:1'],
    },
    {
      name: 'tag appended',
      overriders: { imageOverrider: [{ component: 'Tag', operator: 'add', value: '-eu' }] },
      look: images,
      expected: ['nginx:1.29-eu', 'quay.io/side/car:2-eu', 'busybox:1-eu'],
    },
    {
      name: 'repository of one image',
      overriders: {
        imageOverrider: [
          {
            component: 'Repository',
            operator: 'replace',
            value: 'httpd',
            predicate: { path: '/spec/template/spec/containers/0/image' },
          },
        ],
      },
      look: images,
      expected: ['httpd:1.29', 'quay.io/side/car:2', 'busybox:1'],
    },
    {
      name: 'arguments appended',
      overriders: { argsOverrider: [{ containerName: 'web', operator: 'add', value: ['-c'] }] },
      look: (object) => valueAtPointer(object, [...pods, 'containers', '0', 'args']),
      expected: ['-a', '-b', '-c'],
    },
    {
      name: 'arguments taken out',
      overriders: { argsOverrider: [{ containerName: 'web', operator: 'remove', value: ['-a'] }] },
      look: (object) => valueAtPointer(object, [...pods, 'containers', '0', 'args']),
      expected: ['-b'],
    },
    {
      name: 'the command of an init container',
      overriders: { commandOverrider: [{ containerName: 'init', operator: 'add', value: ['sh'] }] },
      look: (object) => valueAtPointer(object, [...pods, 'initContainers', '0', 'command']),
      expected: ['sh'],
    },
    {
      name: 'a container that is not there',
      overriders: { commandOverrider: [{ containerName: 'db', operator: 'add', value: ['sh'] }] },
      look: (object) => object,
      expected: template,
      noEffect: 'commandOverrider[0]: there is no container db',
    },
    {
      name: 'labels added and replaced',
      overriders: {
        labelsOverrider: [
          { operator: 'add', value: { a: '1' } },
          { operator: 'replace', value: { tier: 'iron' } },
        ],
      },
      look: ({ metadata }) => metadata?.labels,
      expected: { tier: 'iron', a: '1' },
    },
    {
      name: 'a label that is not there to be replaced',
      overriders: { labelsOverrider: [{ operator: 'replace', value: { nope: '1' } }] },
      look: ({ metadata }) => metadata?.labels,
      expected: { tier: 'gold' },
      noEffect: 'labelsOverrider[0]: there is no nope to replace',
    },
    {
      name: 'a label removed',
      overriders: { labelsOverrider: [{ operator: 'remove', value: { tier: '' } }] },
      look: ({ metadata }) => metadata?.labels,
      expected: {},
    },
    {
      name: 'plain text',
      overriders: { plaintext: [{ path: '/spec/paused', operator: 'add', value: true }] },
      look: (object) => valueAtPointer(object, ['spec', 'paused']),
      expected: true,
    },
  ];
  for (const { name, overriders, look, expected, noEffect } of rows) {
    test(name, async () => {
      const frozen = structuredClone(template);
      const outcome = await applyOverrides(template, ant, [policy('o', [rule(overriders)])]);
      assert.deepEqual(look(outcome.object), expected);
      assert.deepEqual(told(outcome), noEffect ? [`NoEffect ${noEffect}`] : []);
      assert.deepEqual(template, frozen, 'the template was changed');
    });
  }

  test('a CronJob has images too', async () => {
    const spec = { jobTemplate: { spec: { template: { spec: { containers: [{ name: 'c', image: 'a' }] } } } } };
    const cronJob = { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'n', namespace: 'demo' }, spec };
    const overriders: Overriders = { imageOverrider: [{ component: 'Tag', operator: 'replace', value: '2' }] };
    const { object } = await applyOverrides(cronJob, ant, [policy('o', [rule(overriders)])]);
    assert.equal(
      valueAtPointer(object, ['spec', 'jobTemplate', 'spec', 'template', 'spec', 'containers', '0', 'image']),
      'a:2',
    );
  });
});

describe('which policies, in which order', () => {
  const last = async (policies: (OverridePolicy | ClusterOverridePolicy)[]) =>
    (await applyOverrides(template, ant, policies)).object.metadata?.annotations?.['by'];

  test('the namespace after the cluster, whatever their selectors', async () => {
    const policies = [
      policy('a', [annotate('by', 'namespace')], [anyDeployment]),
      clusterPolicy('z', [annotate('by', 'cluster')], [web]),
    ];
    assert.equal(await last(policies), 'namespace');
    assert.deepEqual((await applyOverrides(template, ant, policies)).policies, ['z', 'demo/a']);
  });

  test('the most precise selector has the last word', async () => {
    assert.equal(
      await last([policy('a', [annotate('by', 'name')], [web]), policy('b', [annotate('by', 'all')])]),
      'name',
    );
  });

  test('then the last name', async () => {
    assert.equal(await last([policy('b', [annotate('by', 'b')]), policy('a', [annotate('by', 'a')])]), 'b');
  });

  test('not those of another namespace, kind or cluster', async () => {
    const policies = [
      { ...policy('other', [annotate('by', 'namespace')]), metadata: { name: 'other', namespace: 'prod' } },
      policy('kind', [annotate('by', 'kind')], [{ ...anyDeployment, kind: 'StatefulSet' }]),
      policy('cluster', [{ ...annotate('by', 'cluster'), targetCluster: { clusterNames: ['bee'] } }]),
    ];
    const outcome = await applyOverrides(template, ant, policies);
    assert.equal(outcome.object, template);
    assert.deepEqual(outcome.policies, []);
  });

  test('a rule sees what the rule before it made', async () => {
    const rules = [
      rule({ imageOverrider: [{ component: 'Registry', operator: 'replace', value: 'one.example' }] }),
      rule({ imageOverrider: [{ component: 'Registry', operator: 'add', value: '.com' }] }, { clusterNames: ['ant'] }),
    ];
    assert.equal(
      images((await applyOverrides(template, ant, [policy('o', rules)])).object)[0],
      'one.example.com/nginx:1.29',
    );
  });
});

describe('what cannot be applied', () => {
  test('says which policy, rule and overrider, and the rest goes on', async () => {
    const missing = rule(
      { plaintext: [{ path: '/spec/x', operator: 'replace', value: 1 }] },
      { clusterNames: ['ant'] },
    );
    const policies = [
      clusterPolicy('c', [rule({ argsOverrider: [{ containerName: 'db', operator: 'add', value: ['-x'] }] })]),
      policy('o', [rule({}, { clusterNames: ['bee'] }), missing, annotate('by', 'o')]),
    ];
    const { object, unapplied } = await applyOverrides(template, ant, policies);
    assert.deepEqual(unapplied, [
      {
        kind: 'ClusterOverridePolicy',
        name: 'c',
        rule: 0,
        overrider: 'argsOverrider[0]',
        reason: 'NoEffect',
        message: 'there is no container db',
      },
      {
        kind: 'OverridePolicy',
        namespace: 'demo',
        name: 'o',
        rule: 1,
        overrider: 'plaintext[0]',
        reason: 'Failed',
        message: 'there is nothing at /spec/x to replace',
      },
    ]);
    assert.equal(object.metadata?.annotations?.['by'], 'o');
  });

  const others: { name: string; overriders: Overriders; fault: string }[] = [
    {
      name: 'another namespace',
      overriders: { plaintext: [{ path: '/metadata/namespace', operator: 'replace', value: 'kube-system' }] },
      fault: 'plaintext[0]: it would become another object: an override cannot change its namespace',
    },
    {
      name: 'another kind, group and name',
      overriders: {
        mergePatch: [{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: { name: 'x' } }],
      },
      fault: 'mergePatch[0]: it would become another object: an override cannot change its group, kind, name',
    },
    {
      name: 'no metadata',
      overriders: { plaintext: [{ path: '/metadata', operator: 'remove' }] },
      fault: 'plaintext[0]: it would become another object: an override cannot change its name, namespace',
    },
    {
      name: 'labels that are no texts',
      overriders: { mergePatch: [{ metadata: { labels: { tier: 3 } } }] },
      fault: 'mergePatch[0]: its labels would not be a map of texts',
    },
  ];
  for (const { name, overriders, fault } of others) {
    test(`what it may not become: ${name}`, async () => {
      const outcome = await applyOverrides(template, ant, [policy('o', [rule(overriders)])]);
      assert.deepEqual(told(outcome), [`Failed ${fault}`]);
      assert.equal(outcome.object, template);
    });
  }

  test('a label that is not valid', async () => {
    const overriders: Overriders = { labelsOverrider: [{ operator: 'add', value: { a: 'not a label!' } }] };
    const [fault] = told(await applyOverrides(template, ant, [policy('o', [rule(overriders)])]));
    assert.match(fault ?? '', /^Failed labelsOverrider\[0\]: its metadata.labels would not be valid: /);
  });

  test('a text that is nested too deeply', async () => {
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'demo' },
      data: { a: '[1,'.repeat(1e5) + '1' + ']'.repeat(1e5) },
    };
    const overriders: Overriders = {
      fieldOverrider: [{ fieldPath: '/data/a', json: [{ subPath: '/-', operator: 'add', value: 1 }] }],
    };
    assert.deepEqual(told(await applyOverrides(object, ant, [policy('o', [rule(overriders)])])), [
      'Failed fieldOverrider[0]: the text at /data/a: is nested too deeply',
    ]);
  });

  test('another version of its group is the same object', async () => {
    const overriders: Overriders = { mergePatch: [{ apiVersion: 'apps/v1beta2' }] };
    const outcome = await applyOverrides(template, ant, [policy('o', [rule(overriders)])]);
    assert.deepEqual(told(outcome), []);
    assert.equal(outcome.object.apiVersion, 'apps/v1beta2');
  });

  const unreadable = { matchExpressions: [{ key: 'not a key!', operator: 'Exists' as const }] };

  test('a target that cannot be read, where the rest of it fits', async () => {
    const broken = (clusterNames: string[]) =>
      applyOverrides(template, ant, [policy('o', [rule({}, { clusterNames, labelSelector: unreadable })])]);
    assert.match(told(await broken(['ant'])).join(), /^Failed targetCluster.labelSelector: /);
    assert.deepEqual((await broken(['bee'])).unapplied, []);
  });

  test('a selector that cannot be read, for objects of its kind', async () => {
    const broken = (kind: string) =>
      applyOverrides(template, ant, [
        policy('o', [annotate('by', 'o')], [{ apiVersion: 'apps/v1', kind, labelSelector: unreadable }]),
      ]);
    const [fault] = (await broken('Deployment')).unapplied;
    assert.equal(fault?.rule, undefined);
    assert.match(fault?.message ?? '', /^resourceSelectors\[0\].labelSelector: /);
    assert.deepEqual(await broken('StatefulSet'), { object: template, policies: [], unapplied: [] });
  });
});

test('within a rule the kinds of overriders have their order, however they are written', async () => {
  const overriders: Overriders = {
    mergePatch: [{ metadata: { annotations: { by: 'merge' } }, spec: { replicas: 9 } }],
    plaintext: [
      { path: '/metadata/annotations/by', operator: 'test', value: 'annotations' },
      { path: '/spec/replicas', operator: 'replace', value: 5 },
      { path: '/spec/template/spec/containers/0/args/2', operator: 'test', value: '-c' },
    ],
    annotationsOverrider: [{ operator: 'add', value: { by: 'annotations' } }],
    argsOverrider: [{ containerName: 'web', operator: 'add', value: ['-c'] }],
  };
  const outcome = await applyOverrides(template, ant, [policy('o', [rule(overriders)])]);
  assert.deepEqual(told(outcome), []);
  assert.equal(outcome.object.metadata?.annotations?.['by'], 'merge');
  assert.equal(valueAtPointer(outcome.object, ['spec', 'replicas']), 9);
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type KubeObject, valueAtPointer } from '@asterism/machinery';
import type { ClusterOverridePolicy, OverridePolicy, Overriders, ResourceSelector } from '../api/index.ts';
import { cluster, deployment } from '../place/testing/build.ts';
import { applyOverrides } from './apply-overrides.ts';

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
    initContainers: [{ name: 'init', image: 'busybox' }],
  },
});
const ant = cluster('ant', { region: 'eu' });

const pods = ['spec', 'template', 'spec'];
const images = (object: KubeObject) =>
  ['containers', 'initContainers'].flatMap((field) =>
    (valueAtPointer(object, [...pods, field]) as { image: string }[]).map(({ image }) => image),
  );

describe('one overrider', () => {
  const rows: {
    name: string;
    overriders: Overriders;
    look: (object: KubeObject) => unknown;
    expected: unknown;
    remark?: RegExp;
  }[] = [
    {
      name: 'registry of every container and init container',
      overriders: { imageOverrider: [{ component: 'Registry', operator: 'replace', value: 'eu.example.com' }] },
      look: images,
      expected: ['eu.example.com/nginx:1.29', 'eu.example.com/side/car:2', 'eu.example.com/busybox'],
    },
    {
      name: 'registry removed',
      overriders: { imageOverrider: [{ component: 'Registry', operator: 'remove' }] },
      look: images,
      expected: ['nginx:1.29', 'side/car:2', 'busybox'],
    },
    {
      name: 'tag appended',
      overriders: { imageOverrider: [{ component: 'Tag', operator: 'add', value: '-eu' }] },
      look: images,
      expected: ['nginx:1.29-eu', 'quay.io/side/car:2-eu', 'busybox:-eu'],
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
      expected: ['httpd:1.29', 'quay.io/side/car:2', 'busybox'],
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
      remark: /OverridePolicy demo\/o: commandOverrider: there is no container db/,
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
      remark: /there is no nope to replace/,
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
  for (const { name, overriders, look, expected, remark } of rows) {
    test(name, () => {
      const frozen = structuredClone(template);
      const outcome = applyOverrides(template, ant, [policy('o', [rule(overriders)])]);
      assert.deepEqual(look(outcome.object), expected);
      assert.deepEqual(outcome.faults, []);
      if (remark) assert.match(outcome.remarks.join(), remark);
      else assert.deepEqual(outcome.remarks, []);
      assert.deepEqual(template, frozen, 'the template was changed');
    });
  }

  test('a CronJob has images too', () => {
    const spec = { jobTemplate: { spec: { template: { spec: { containers: [{ name: 'c', image: 'a' }] } } } } };
    const cronJob = { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'n', namespace: 'demo' }, spec };
    const overriders: Overriders = { imageOverrider: [{ component: 'Tag', operator: 'replace', value: '2' }] };
    const { object } = applyOverrides(cronJob, ant, [policy('o', [rule(overriders)])]);
    assert.equal(
      valueAtPointer(object, ['spec', 'jobTemplate', 'spec', 'template', 'spec', 'containers', '0', 'image']),
      'a:2',
    );
  });

  const faults: { name: string; overriders: Overriders; fault: RegExp }[] = [
    {
      name: 'no image at the path',
      overriders: { imageOverrider: [{ component: 'Tag', operator: 'remove', predicate: { path: '/spec/x' } }] },
      fault: /there is no image at \/spec\/x/,
    },
    {
      name: 'a value is missing',
      overriders: { imageOverrider: [{ component: 'Tag', operator: 'add' }] },
      fault: /add Tag has no value/,
    },
    {
      name: 'nothing to replace',
      overriders: { plaintext: [{ path: '/spec/x', operator: 'replace', value: 1 }] },
      fault: /nothing at \/spec\/x to replace/,
    },
    {
      name: 'nowhere to add',
      overriders: { plaintext: [{ path: '/spec/x/y/z', operator: 'add', value: 1 }] },
      fault: /nothing stands at the parent/,
    },
  ];
  for (const { name, overriders, fault } of faults) {
    test(`a fault: ${name}`, () => {
      assert.match(applyOverrides(template, ant, [policy('o', [rule(overriders)])]).faults.join(), fault);
    });
  }
});

describe('which policies, in which order', () => {
  const last = (policies: (OverridePolicy | ClusterOverridePolicy)[]) =>
    applyOverrides(template, ant, policies).object.metadata?.annotations?.['by'];

  test('the namespace after the cluster, whatever their selectors', () => {
    const policies = [
      policy('a', [annotate('by', 'namespace')], [anyDeployment]),
      clusterPolicy('z', [annotate('by', 'cluster')], [web]),
    ];
    assert.equal(last(policies), 'namespace');
    assert.deepEqual(applyOverrides(template, ant, policies).policies, ['z', 'demo/a']);
  });

  test('the most precise selector has the last word', () => {
    assert.equal(last([policy('a', [annotate('by', 'name')], [web]), policy('b', [annotate('by', 'all')])]), 'name');
  });

  test('then the last name', () => {
    assert.equal(last([policy('b', [annotate('by', 'b')]), policy('a', [annotate('by', 'a')])]), 'b');
  });

  test('not those of another namespace, kind or cluster', () => {
    const policies = [
      { ...policy('other', [annotate('by', 'namespace')]), metadata: { name: 'other', namespace: 'prod' } },
      policy('kind', [annotate('by', 'kind')], [{ ...anyDeployment, kind: 'StatefulSet' }]),
      policy('cluster', [{ ...annotate('by', 'cluster'), targetCluster: { clusterNames: ['bee'] } }]),
    ];
    const outcome = applyOverrides(template, ant, policies);
    assert.equal(outcome.object, template);
    assert.deepEqual(outcome.policies, []);
  });

  test('a rule sees what the rule before it made', () => {
    const rules = [
      rule({ imageOverrider: [{ component: 'Registry', operator: 'replace', value: 'one.example' }] }),
      rule({ imageOverrider: [{ component: 'Registry', operator: 'add', value: '.com' }] }, { clusterNames: ['ant'] }),
    ];
    assert.equal(images(applyOverrides(template, ant, [policy('o', rules)]).object)[0], 'one.example.com/nginx:1.29');
  });
});

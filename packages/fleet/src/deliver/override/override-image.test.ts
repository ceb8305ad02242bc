import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { finishSteps, type KubeObject } from '@asterism/machinery';
import type { Overriders } from '../../api/index.ts';
import { containersOf } from './containers.ts';
import { overrideImages as overrideImagesInSteps } from './override-image.ts';

const overrideImages = (...given: Parameters<typeof overrideImagesInSteps>) =>
  finishSteps(overrideImagesInSteps(...given));

type ImageOverrider = NonNullable<Overriders['imageOverrider']>[number];

const DIGEST = `sha256:${'0'.repeat(64)}`;
const OTHER = `sha256:${'1'.repeat(64)}`;

const pod = (...images: string[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: { containers: images.map((image, index) => ({ name: `c${index}`, image })) },
});
const images = (object: KubeObject) => containersOf(object).map(({ image }) => image);

describe('one part of an image', () => {
  const rows: [string, ImageOverrider, string][] = [
    ['nginx:1', { component: 'Registry', operator: 'replace', value: 'eu.example:5000' }, 'eu.example:5000/nginx:1'],
    ['library/nginx', { component: 'Registry', operator: 'replace', value: 'eu.example' }, 'eu.example/library/nginx'],
    ['a.b/nginx', { component: 'Registry', operator: 'add', value: '.c' }, 'a.b.c/nginx'],
    ['a.b/nginx', { component: 'Registry', operator: 'remove' }, 'nginx'],
    ['a.b/x/nginx:1', { component: 'Repository', operator: 'replace', value: 'y/httpd' }, 'a.b/y/httpd:1'],
    ['a.b/x/nginx:1', { component: 'Repository', operator: 'add', value: '-slim' }, 'a.b/x/nginx-slim:1'],
    ['nginx:1', { component: 'Tag', operator: 'replace', value: '2' }, 'nginx:2'],
    ['nginx:1', { component: 'Tag', operator: 'add', value: '-eu' }, 'nginx:1-eu'],
    ['nginx', { component: 'Tag', operator: 'add', value: 'v1' }, 'nginx:v1'],
    [`nginx:1@${DIGEST}`, { component: 'Tag', operator: 'replace', value: '2' }, 'nginx:2'],
    [`nginx@${DIGEST}`, { component: 'Tag', operator: 'replace', value: '2' }, 'nginx:2'],
    ['nginx:1', { component: 'Tag', operator: 'replace', value: DIGEST }, `nginx@${DIGEST}`],
    [`nginx:1@${DIGEST}`, { component: 'Tag', operator: 'remove' }, 'nginx'],
    ['nginx:1', { component: 'Digest', operator: 'replace', value: DIGEST }, `nginx:1@${DIGEST}`],
    [`nginx:1@${DIGEST}`, { component: 'Digest', operator: 'replace', value: OTHER }, `nginx:1@${OTHER}`],
    [`nginx:1@${DIGEST}`, { component: 'Digest', operator: 'remove' }, 'nginx:1'],
    ['$(image)', { component: 'Tag', operator: 'replace', value: '2' }, '$(image):2'],
  ];
  for (const [before, overrider, after] of rows) {
    const { component, operator, value = '' } = overrider;
    test(`${before}: ${operator} ${component} ${value}`, () => {
      const { object, noEffect, failed } = overrideImages(pod(before), overrider);
      assert.deepEqual([images(object), noEffect, failed], [[after], [], []]);
    });
  }

  const faults: [string, ImageOverrider][] = [
    ['nginx', { component: 'Tag', operator: 'add', value: '-eu' }],
    ['nginx:1', { component: 'Tag', operator: 'replace', value: 'a b' }],
    ['nginx:1', { component: 'Repository', operator: 'replace', value: 'Upper' }],
    ['nginx:1', { component: 'Repository', operator: 'remove' }],
    ['nginx:1', { component: 'Digest', operator: 'replace', value: 'sha256:short' }],
  ];
  for (const [before, overrider] of faults) {
    const { component, operator, value = '' } = overrider;
    test(`${before} would be no image any more: ${operator} ${component} ${value}`, () => {
      const { failed } = overrideImages(pod(before), overrider);
      assert.deepEqual(failed, [`what ${operator} ${component} makes of container c0 is no image`]);
      const { failed: at } = overrideImages(pod(before), {
        ...overrider,
        predicate: { path: '/spec/containers/0/image' },
      });
      assert.deepEqual(at, [`what ${operator} ${component} makes of /spec/containers/0/image is no image`]);
    });
  }
});

describe('which images', () => {
  const tag: ImageOverrider = { component: 'Tag', operator: 'replace', value: '2' };
  const podSpec = { containers: [{ name: 'c', image: 'c:1' }], initContainers: [{ name: 'i', image: 'i:1' }] };
  const template = { spec: podSpec };
  const kinds: [string, KubeObject, string[]][] = [
    ['Pod', { apiVersion: 'v1', kind: 'Pod', spec: podSpec }, ['c:2', 'i:2']],
    ['Deployment', { apiVersion: 'apps/v1', kind: 'Deployment', spec: { template } }, ['c:2', 'i:2']],
    [
      'CronJob',
      { apiVersion: 'batch/v1', kind: 'CronJob', spec: { jobTemplate: { spec: { template } } } },
      ['c:2', 'i:2'],
    ],
    [
      'JobSet, of several templates',
      {
        apiVersion: 'jobset.x-k8s.io/v1alpha2',
        kind: 'JobSet',
        spec: { replicatedJobs: [{ template: { spec: { template } } }, { template: { spec: { template } } }] },
      },
      ['c:2', 'i:2', 'c:2', 'i:2'],
    ],
    [
      'LeaderWorkerSet, whose templates have names',
      {
        apiVersion: 'leaderworkerset.x-k8s.io/v1',
        kind: 'LeaderWorkerSet',
        spec: { leaderWorkerTemplate: { leaderTemplate: template, workerTemplate: template } },
      },
      ['c:2', 'i:2', 'c:2', 'i:2'],
    ],
  ];
  for (const [name, object, expected] of kinds) {
    test(`every container of a ${name}`, () => {
      assert.deepEqual(images(overrideImages(object, tag).object), expected);
    });
  }

  test('without init containers, if so said', () => {
    const object = { apiVersion: 'v1', kind: 'Pod', spec: podSpec };
    assert.deepEqual(images(overrideImages(object, { ...tag, initContainers: false }).object), ['c:2', 'i:1']);
  });

  test('the one at the path, escapes and all', () => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', data: { 'a/b~c': 'nginx:1', other: 'nginx:1' } };
    const step = overrideImages(object, { ...tag, predicate: { path: '/data/a~1b~0c' } });
    assert.deepEqual(step.object['data'], { 'a/b~c': 'nginx:2', other: 'nginx:1' });
  });

  const none: [string, KubeObject, ImageOverrider, Partial<ReturnType<typeof overrideImages>>][] = [
    [
      'no containers',
      { apiVersion: 'v1', kind: 'ConfigMap' },
      tag,
      { noEffect: ['the object has no containers with an image'] },
    ],
    ['containers without images', pod(''), tag, { noEffect: ['the object has no containers with an image'] }],
    ['nothing at the path', pod('a'), { ...tag, predicate: { path: '/x' } }, { failed: ['there is no image at /x'] }],
    ['a path that is none', pod('a'), { ...tag, predicate: { path: 'x' } }, { failed: ['there is no image at x'] }],
    ['no value', pod('a'), { component: 'Tag', operator: 'add' }, { failed: ['add Tag has no value'] }],
  ];
  for (const [name, object, overrider, expected] of none) {
    test(`told: ${name}`, () => {
      assert.deepEqual(overrideImages(object, overrider), { object, noEffect: [], failed: [], ...expected });
    });
  }
});

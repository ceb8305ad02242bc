import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import type { OverridePolicy, ResourceBinding } from '../api/index.ts';
import { cluster } from '../place/testing/build.ts';
import { renderer } from './render-manifest.ts';

const binding: ResourceBinding = {
  apiVersion: 'asterism.dev/v1alpha1',
  kind: 'ResourceBinding',
  metadata: { name: 'b', namespace: 'demo' },
  spec: { resource: { apiVersion: 'v1', kind: 'ConfigMap', name: 'a' }, clusters: [{ name: 'ant' }] },
};

const unlabel: OverridePolicy = {
  apiVersion: 'asterism.dev/v1alpha1',
  kind: 'OverridePolicy',
  metadata: { name: 'unlabel', namespace: 'demo' },
  spec: { overrideRules: [{ overriders: { labelsOverrider: [{ operator: 'remove', value: { app: '' } }] } }] },
};

describe('a rendered manifest has no empty metadata', () => {
  const render = (object: KubeObject, policies: OverridePolicy[] = []) =>
    renderer(object, binding, policies)(cluster('ant')).object.metadata;

  test('where all labels are the API server’s own', () => {
    const labels = { 'job-name': 'a', 'controller-uid': 'u' };
    const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'a', namespace: 'demo', labels }, spec: {} };
    assert.deepEqual(render(job), { name: 'a', namespace: 'demo' });
  });

  test('where an override takes the last label', () => {
    const metadata = { name: 'a', namespace: 'demo', labels: { app: 'a' } };
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    assert.deepEqual(render(map), metadata);
    assert.deepEqual(render(map, [unlabel]), { name: 'a', namespace: 'demo' });
  });
});

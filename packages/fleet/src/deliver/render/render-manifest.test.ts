import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import type { OverridePolicy, ResourceBinding } from '../../api/index.ts';
import { cluster } from '../../place/testing/build.ts';
import { createRenderer } from './render-manifest.ts';

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
  const render = async (object: KubeObject, policies: OverridePolicy[] = []) => {
    const {
      objects: [rendered],
    } = await createRenderer(object, binding, policies)(cluster('ant'));
    return rendered?.metadata;
  };

  test('where all labels are the API server’s own', async () => {
    const labels = { 'job-name': 'a', 'controller-uid': 'u' };
    const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'a', namespace: 'demo', labels }, spec: {} };
    assert.deepEqual(await render(job), { name: 'a', namespace: 'demo' });
  });

  test('where an override takes the last label', async () => {
    const metadata = { name: 'a', namespace: 'demo', labels: { app: 'a' } };
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    assert.deepEqual(await render(map), metadata);
    assert.deepEqual(await render(map, [unlabel]), { name: 'a', namespace: 'demo' });
  });
});

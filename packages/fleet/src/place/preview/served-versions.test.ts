import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@asterism/client';
import { failure } from '@asterism/machinery';
import type { PropagationPolicy } from '../../api/index.ts';
import { deployment } from '../testing/build.ts';
import { servedVersions } from './served-versions.ts';

const policy = (...versions: string[]): PropagationPolicy => ({
  apiVersion: 'asterism.dev/v1alpha1',
  kind: 'PropagationPolicy',
  metadata: { name: 'p', namespace: 'demo' },
  spec: {
    resourceSelectors: [
      ...versions.map((apiVersion) => ({ apiVersion, kind: 'Deployment' })),
      { apiVersion: 'batch/v1', kind: 'Job' },
    ],
  },
});

test('of the kinds of templates, the versions are looked up that only policies name', async () => {
  const asked: string[] = [];
  const typeFor = ({ apiVersion }: { apiVersion: string }): Promise<object> => {
    asked.push(apiVersion);
    return apiVersion === 'apps/v2' ? Promise.resolve({}) : Promise.reject(failure(404, 'no matches'));
  };
  const client = { discovery: { typeFor } } as unknown as Client;
  const namespaced = [policy('apps/v1', 'apps/v2'), policy('apps/v1beta1', 'apps/v2')];
  const serves = await servedVersions(client, [deployment(1)], { namespaced, cluster: [] });
  assert.deepEqual(asked, ['apps/v2', 'apps/v1beta1']);
  assert.equal(serves({ apiVersion: 'apps/v2', kind: 'Deployment' }), true);
  assert.equal(serves({ apiVersion: 'apps/v1beta1', kind: 'Deployment' }), false);
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { deployment } from '../../place/testing/build.ts';
import { reviseReplicas } from './revise-replicas.ts';

describe('reviseReplicas', () => {
  const clusters = [
    { name: 'ant', replicas: 2 },
    { name: 'bee', replicas: 1 },
  ];
  const share = (cluster: string, divided = true) => ({ cluster, clusters, divided, uid: undefined });
  const spec = (object: KubeObject) => object['spec'] as Record<string, unknown>;

  test('a share of replicas', () => {
    assert.equal(spec(reviseReplicas(deployment(3), share('ant')))['replicas'], 2);
    assert.equal(spec(reviseReplicas(deployment(3), share('bee')))['replicas'], 1);
  });

  test('completions are divided with the parallelism', () => {
    const job = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'j' },
      spec: { parallelism: 3, completions: 9 },
    };
    assert.deepEqual(spec(reviseReplicas(job, share('ant'))), { parallelism: 2, completions: 6 });
    assert.deepEqual(spec(reviseReplicas(job, share('bee'))), { parallelism: 1, completions: 3 });
    assert.deepEqual(spec(reviseReplicas(job, share('ant', false))), { parallelism: 2, completions: 9 });
  });

  test('a parallelism beyond the completions is none of a share, and stays where nothing is divided', () => {
    const job = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'j' },
      spec: { parallelism: 10, completions: 3 },
    };
    assert.deepEqual(spec(reviseReplicas(job, share('ant'))), { parallelism: 2, completions: 2 });
    assert.deepEqual(spec(reviseReplicas(job, share('bee'))), { parallelism: 1, completions: 1 });
    const whole = { ...share('ant', false), clusters: [{ name: 'ant', replicas: 3 }] };
    assert.equal(reviseReplicas(job, whole), job);
  });

  test('what has no replicas is left alone', () => {
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: {} };
    assert.equal(reviseReplicas(service, share('ant')), service);
    const web = deployment(3);
    assert.equal(reviseReplicas(web, { ...share('ant'), clusters: [{ name: 'ant' }] }), web);
  });
});

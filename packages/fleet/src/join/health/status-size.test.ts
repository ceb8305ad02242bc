import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer } from '@asterism/apiserver/testing';
import { findCondition, isStatusError, NAMESPACES } from '@asterism/machinery';
import { type Cluster, CLUSTERS, customResourceDefinitions, type Work, WORKS } from '../../api/index.ts';
import { cutStatus, STATUS_BYTES, STATUS_CHECKS } from './status-size.ts';

const cluster = (status?: Cluster['status']): Cluster =>
  ({
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'Cluster',
    metadata: { name: 'birch' },
    spec: { id: 'x', syncMode: 'Pull', connection: { type: 'Tunnel' } },
    ...(status ? { status } : {}),
  }) as Cluster;

const large = (bytes: number): Cluster['status'] => ({
  observedGeneration: 3,
  conditions: [
    {
      type: 'Ready',
      status: 'True',
      reason: 'Fine',
      message: 'm'.repeat(5_000),
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ],
  kubernetesVersion: 'v'.repeat(bytes),
});

test('an API server refuses a status that is too large, and takes one within the limit', async () => {
  await using hub = await startTestServer({ crds: await customResourceDefinitions(), checks: STATUS_CHECKS });
  const clusters = hub.client.resource(CLUSTERS);
  await clusters.create(cluster());
  const write = (bytes: number) =>
    clusters.patch({ name: 'birch' }, { type: 'merge', body: { status: large(bytes) } }, { subresource: 'status' });
  await write(400_000);
  await assert.rejects(write(600_000), (error: unknown) => {
    assert.ok(isStatusError(error) && error.code === 422, String(error));
    assert.match(error.message, /status: Too long: may not be more than 524288 bytes, and has 60\d{4}/);
    return true;
  });
  await hub.client.resource(NAMESPACES).create({ metadata: { name: 'asterism-birch' } });
  const works = hub.client.resource(WORKS);
  const ref = { namespace: 'asterism-birch', name: 'w' };
  await works.create({
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'Work',
    metadata: ref,
    spec: { manifests: [] },
  } as unknown as Work);
  const manifest = { apiVersion: 'v1', kind: 'Pod', name: 'a', applied: true, status: { a: 'x'.repeat(1_700_000) } };
  const body = { status: { manifestStatuses: [manifest] } };
  const oversize = works.patch(ref, { type: 'merge', body }, { subresource: 'status' });
  await assert.rejects(oversize, (error: unknown) => isStatusError(error) && error.code === 422);
});

test('of a status that an API server took though it is too large, the conditions are left, and one that says so', () => {
  assert.equal(cutStatus(cluster(), 0), undefined);
  assert.equal(cutStatus(cluster(large(1_000)), 0), undefined);
  const cut = cutStatus(cluster(large(STATUS_BYTES.clusters)), 0);
  assert.deepEqual(Object.keys(cut ?? {}), ['observedGeneration', 'conditions']);
  assert.equal(findCondition(cut?.conditions, 'Ready')?.message.length, 1_024);
  assert.match(findCondition(cut?.conditions, 'StatusWithinLimit')?.message ?? '', /limit: 524288 bytes/);
  assert.equal(cutStatus(cluster(cut), 0), undefined, 'once');
});

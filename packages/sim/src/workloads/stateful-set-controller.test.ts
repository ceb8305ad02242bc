import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  CONTROLLER_REVISIONS,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  type Pod,
  PODS,
  STATEFUL_SETS,
  type StatefulSet,
  type StatefulSetSpec,
} from '@asterism/machinery';
import { TestMember } from '../testing/test-member.ts';

const labels = { app: 'db' };
const ref = { namespace: 'default', name: 'db' };

const statefulSet = (spec: Partial<StatefulSetSpec> = {}): StatefulSet => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: ref,
  spec: {
    replicas: 2,
    serviceName: 'db',
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'db', image: 'db:1' }] } },
    ...spec,
  },
});

const imageOf = (pod: Pod): string => pod.spec?.containers[0]?.image ?? '';
const names = (objects: readonly { metadata?: { name?: string } }[]) => objects.map(({ metadata }) => metadata?.name);
const isReady = ({ status, spec }: StatefulSet): boolean =>
  status?.readyReplicas === spec?.replicas && status?.currentRevision === status?.updateRevision;

const setImage = (image: string) => ({
  type: 'strategic' as const,
  body: { spec: { template: { spec: { containers: [{ name: 'db', image }] } } } },
});

describe('a StatefulSet', () => {
  test('has pods with names, labels and volumes of their own', async () => {
    await using member = await TestMember.start();
    const claim = {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce' as const], resources: { requests: { storage: '1Gi' } } },
    };
    const policy = { whenScaled: 'Delete' as const, whenDeleted: 'Retain' as const };
    const sets = member.client.resource(STATEFUL_SETS);
    await sets.create(
      statefulSet({
        ordinals: { start: 4 },
        volumeClaimTemplates: [claim],
        persistentVolumeClaimRetentionPolicy: policy,
      }),
    );
    const { status } = await member.one(STATEFUL_SETS, ref, isReady);
    const [first] = await member.until(PODS, (pods) => pods.length === 2);
    assert.deepEqual(first?.metadata?.labels, {
      ...labels,
      'apps.kubernetes.io/pod-index': '4',
      'controller-revision-hash': status?.updateRevision,
      'statefulset.kubernetes.io/pod-name': 'db-4',
    });
    assert.deepEqual([first?.spec?.hostname, first?.spec?.subdomain], ['db-4', 'db']);
    const claims = await member.until(
      PERSISTENT_VOLUME_CLAIMS,
      (all) => all.length === 2 && all.every((each) => each.status?.phase === 'Bound'),
    );
    assert.deepEqual(names(claims), ['data-db-4', 'data-db-5']);
    // Scaled down: the claim goes with its pod, and the volume with its claim.
    await sets.patch(ref, { type: 'merge', body: { spec: { replicas: 1 } } });
    assert.deepEqual(names(await member.until(PODS, (pods) => pods.length === 1)), ['db-4']);
    await member.until(PERSISTENT_VOLUME_CLAIMS, (all) => all.length === 1);
    await member.until(PERSISTENT_VOLUMES, (all) => all.length === 1, '');
  });

  test('rolls out from the top down to the partition, and back', async () => {
    await using member = await TestMember.start();
    const sets = member.client.resource(STATEFUL_SETS);
    await sets.create(statefulSet({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } }));
    const before = await member.one(STATEFUL_SETS, ref, isReady);
    await sets.patch(ref, setImage('db:2'));
    await member.one(STATEFUL_SETS, ref, ({ status }) => status?.updatedReplicas === 1 && status.readyReplicas === 2);
    const halfway = await member.until(PODS, (pods) => pods.length === 2);
    assert.deepEqual(halfway.map(imageOf), ['db:1', 'db:2']);
    const { status } = await sets.get(ref);
    assert.equal(status?.currentRevision, before.status?.currentRevision);
    assert.notEqual(status?.updateRevision, status?.currentRevision);
    // One below the partition that is made anew is made as it was.
    await member.client.resource(PODS).delete({ namespace: 'default', name: 'db-0' });
    const uid = halfway[0]?.metadata?.uid;
    const again = await member.one(PODS, { namespace: 'default', name: 'db-0' }, (pod) => pod.metadata?.uid !== uid);
    assert.equal(imageOf(again), 'db:1');
    await sets.patch(ref, { type: 'merge', body: { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } } });
    await member.one(STATEFUL_SETS, ref, (set) => isReady(set) && set.status?.updatedReplicas === 2);
    await sets.patch(ref, setImage('db:1'));
    await member.one(
      STATEFUL_SETS,
      ref,
      (set) => isReady(set) && set.status?.currentRevision === before.status?.currentRevision,
    );
    const revisions = await member.client.resource(CONTROLLER_REVISIONS).list({ namespace: 'default' });
    assert.deepEqual(
      revisions.items.map(({ revision }) => revision).sort((a, b) => a - b),
      [2, 3],
    );
  });
});

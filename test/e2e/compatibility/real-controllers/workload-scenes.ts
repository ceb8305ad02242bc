import assert from 'node:assert/strict';
import {
  CONTROLLER_REVISIONS,
  DAEMON_SETS,
  DEPLOYMENTS,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  type PersistentVolumeClaim,
  PODS,
  REPLICA_SETS,
  STATEFUL_SETS,
} from '@asterism/machinery';
import { until } from '../../../cluster/until.ts';
import { untilAll } from '../../../cluster/until-all.ts';
import { areReady, NODES, type Scene, workload } from './scene.ts';

export const WORKLOAD_SCENES: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  'a Deployment: pods on nodes, rollouts, scale, undo, cascade': deployment,
  'a StatefulSet, its claims and volumes': statefulSet,
  'a DaemonSet, cordon and drain': daemonSet,
};

async function deployment({ client, namespace, kubectls }: Scene): Promise<void> {
  const ref = { namespace, name: 'web' };
  const pods = { namespace, labelSelector: 'app=web' };
  await client.resource(DEPLOYMENTS).create({ metadata: ref, spec: { replicas: 3, ...workload('web') } });
  const first = await untilAll(client, PODS, pods, areReady(3));
  assert.ok(
    first.every(({ spec }) => NODES.includes(spec?.nodeName ?? '')),
    'the scheduler bound them',
  );
  await Promise.all(kubectls.map((kubectl) => kubectl.run(['-n', namespace, 'rollout', 'status', 'deploy/web'])));
  for (const [index, kubectl] of kubectls.entries()) {
    const image = `registry.example/web:${index + 2}`;
    await kubectl.run(['-n', namespace, 'set', 'image', 'deploy/web', `main=${image}`]);
    assert.match(await kubectl.run(['-n', namespace, 'rollout', 'status', 'deploy/web']), /successfully rolled out/);
    await kubectl.run(['-n', namespace, 'wait', '--for=condition=available', 'deploy/web', '--timeout=20s']);
    await untilAll(client, PODS, pods, areReady(3, image));
    await kubectl.run(['-n', namespace, 'scale', 'deploy/web', `--replicas=${5 - index}`]);
    const scaled = await until(client, DEPLOYMENTS, ref, ({ status }) => status?.availableReplicas === 5 - index);
    assert.equal(scaled.status?.observedGeneration, scaled.metadata?.generation);
    await kubectl.run(['-n', namespace, 'scale', 'deploy/web', '--replicas=3']);
    await untilAll(client, PODS, pods, areReady(3, image));
  }
  await kubectls[0]!.run(['-n', namespace, 'rollout', 'undo', 'deploy/web']);
  await untilAll(client, PODS, pods, areReady(3, 'registry.example/web:2'));
  const sets = await client.resource(REPLICA_SETS).list({ namespace });
  assert.equal(sets.items.length, 3);
  await untilAll(client, PODS, { namespace }, (all) => all.length === 3);
  await Promise.all([
    kubectls[1]!.run(['-n', namespace, 'wait', '--for=delete', 'deploy/web', '--timeout=20s']),
    kubectls[0]!.run(['-n', namespace, 'delete', 'deploy', 'web']),
  ]);
  await untilAll(client, PODS, pods, (left) => left.length === 0);
  await untilAll(client, REPLICA_SETS, { namespace }, (left) => left.length === 0);
}

async function statefulSet({ client, namespace, kubectls }: Scene): Promise<void> {
  const claim: PersistentVolumeClaim = {
    metadata: { name: 'data' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: namespace,
      resources: { requests: { storage: '1Gi' } },
    },
  };
  for (const number of [0, 1]) {
    await client.resource(PERSISTENT_VOLUMES).create({
      metadata: { name: `${namespace}-${number}` },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: namespace,
        hostPath: { path: '/data' },
      },
    });
  }
  const spec = { replicas: 2, serviceName: 'db', ...workload('db'), volumeClaimTemplates: [claim] };
  await client.resource(STATEFUL_SETS).create({ metadata: { namespace, name: 'db' }, spec });
  const pods = await untilAll(client, PODS, { namespace }, areReady(2));
  assert.deepEqual(new Set(pods.map(({ metadata }) => metadata?.name)), new Set(['db-0', 'db-1']));
  await untilAll(
    client,
    PERSISTENT_VOLUME_CLAIMS,
    { namespace },
    (claims) => claims.length === 2 && claims.every(({ status }) => status?.phase === 'Bound'),
  );
  await kubectls[0]!.run(['-n', namespace, 'rollout', 'status', 'sts/db']);
  await kubectls[1]!.run(['-n', namespace, 'set', 'image', 'sts/db', 'main=registry.example/db:2']);
  await untilAll(client, PODS, { namespace }, areReady(2, 'registry.example/db:2'));
  await kubectls[1]!.run(['-n', namespace, 'rollout', 'status', 'sts/db', '--timeout=30s']);
  assert.equal((await client.resource(CONTROLLER_REVISIONS).list({ namespace })).items.length, 2);
  await kubectls[0]!.run(['-n', namespace, 'scale', 'sts/db', '--replicas=1']);
  const [left] = await untilAll(client, PODS, { namespace }, areReady(1));
  assert.equal(left?.metadata?.name, 'db-0');
}

async function daemonSet({ client, namespace, kubectls }: Scene): Promise<void> {
  await client.resource(DAEMON_SETS).create({ metadata: { namespace, name: 'agent' }, spec: workload('agent') });
  const pods = await untilAll(client, PODS, { namespace }, areReady(2));
  assert.deepEqual(new Set(pods.map(({ spec }) => spec?.nodeName)), new Set(NODES));
  for (const kubectl of kubectls) {
    await kubectl.run(['-n', namespace, 'rollout', 'status', 'ds/agent']);
    assert.match(await kubectl.run(['cordon', 'node-b']), /node\/node-b cordoned/);
    const flags = ['--dry-run=server', '--ignore-daemonsets', '--force', `--pod-selector=app=agent`];
    assert.match(await kubectl.run(['drain', 'node-b', ...flags]), /node\/node-b drained/);
    assert.match(await kubectl.run(['uncordon', 'node-b']), /node\/node-b uncordoned/);
  }
  await untilAll(client, PODS, { namespace }, areReady(2));
}

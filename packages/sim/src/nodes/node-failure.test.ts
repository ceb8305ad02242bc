import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, systemClock } from '@asterism/client';
import { DEPLOYMENTS, findCondition, type Node, NODES, type Pod, PODS } from '@asterism/machinery';
import { TestMember } from '../testing/test-member.ts';
import { FAILED_ANNOTATION } from './node-failure.ts';

const TIMES = 50;
const began = Date.now();

/** Time that goes fast. */
const fast: Clock = {
  wall: () => new Date(began + (Date.now() - began) * TIMES),
  monotonic: () => systemClock.monotonic() * TIMES,
  setTimer: (callback, ms, options) => systemClock.setTimer(callback, ms / TIMES, options),
};

const readiness = ({ status }: Node | Pod): string | undefined =>
  findCondition<{ type?: string; status?: string }>(status?.conditions, 'Ready')?.status;

test('a node that fails is unreachable, its pods go elsewhere, and it comes back with those that may stay', async () => {
  await using member = await TestMember.start({
    clock: fast,
    nodes: [1, 2].map((n) => ({ name: `node-${n}`, cpu: '8', memory: '32Gi', pods: 110 })),
  });
  const { client } = member;
  const tolerations = [
    {
      key: 'node.kubernetes.io/unreachable',
      operator: 'Exists' as const,
      effect: 'NoExecute' as const,
      tolerationSeconds: 10,
    },
  ];
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'web' }], tolerations } };
  await client.resource(DEPLOYMENTS).create({
    metadata: { name: 'web', namespace: 'default' },
    spec: { replicas: 4, selector: { matchLabels: labels }, template },
  });
  const stays: Pod = {
    metadata: { name: 'stays', namespace: 'default' },
    spec: {
      nodeName: 'node-1',
      containers: [{ name: 'app', image: 'web' }],
      tolerations: [{ operator: 'Exists' }],
    },
  };
  await client.resource(PODS).create(stays);
  await member.until(PODS, (pods) => pods.length === 5 && pods.every((pod) => readiness(pod) === 'True'));

  const mark = (value: string | null) =>
    client
      .resource(NODES)
      .patch(
        { name: 'node-1' },
        { type: 'merge', body: { metadata: { annotations: { [FAILED_ANNOTATION]: value } } } },
      );
  await mark('power cut');
  const node = await member.one(NODES, { name: 'node-1' }, ({ spec }) => (spec?.taints ?? []).length === 2);
  assert.equal(readiness(node), 'Unknown');
  assert.equal(findCondition(node.status?.conditions, 'Ready')?.reason, 'NodeStatusUnknown');
  assert.deepEqual(
    node.spec?.taints?.map(({ key, effect }) => `${key}:${effect}`),
    ['node.kubernetes.io/unreachable:NoSchedule', 'node.kubernetes.io/unreachable:NoExecute'],
  );
  const isThere = ({ spec, metadata }: Pod): boolean =>
    spec?.nodeName === 'node-2' && metadata?.deletionTimestamp === undefined;
  const moved = await member.until(
    PODS,
    (pods) => pods.filter((pod) => isThere(pod) && readiness(pod) === 'True').length === 4,
  );
  const left = moved.find(({ metadata }) => metadata?.name === 'stays');
  assert.deepEqual([left && readiness(left), left?.metadata?.deletionTimestamp], ['False', undefined]);

  await mark(null);
  await member.one(NODES, { name: 'node-1' }, (found) => readiness(found) === 'True' && !found.spec?.taints?.length);
  const after = await member.until(
    PODS,
    (pods) =>
      pods.length === 5 &&
      pods.every((pod) => readiness(pod) === 'True' && pod.metadata?.deletionTimestamp === undefined),
  );
  const back = after.find(({ metadata }) => metadata?.name === 'stays');
  assert.equal(back?.status?.containerStatuses?.[0]?.restartCount, 1);
});

test('pods of a node that is no more are removed', async () => {
  await using member = await TestMember.start({ clock: fast });
  const { client } = member;
  await client.resource(PODS).create({
    metadata: { name: 'lost', namespace: 'default' },
    spec: { nodeName: 'elsewhere', containers: [{ name: 'app', image: 'web' }] },
  });
  await member.until(PODS, (pods) => pods.length === 0);
});

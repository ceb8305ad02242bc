import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CONTROLLER_REVISIONS, DAEMON_SETS, type DaemonSet, NODES, type Pod, PODS } from '@asterism/machinery';
import { TestMember } from '../testing/test-member.ts';

const labels = { app: 'logs' };
const ref = { namespace: 'default', name: 'logs' };

const daemonSet = (strategy: NonNullable<DaemonSet['spec']>['updateStrategy'] = {}): DaemonSet => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: ref,
  spec: {
    selector: { matchLabels: labels },
    updateStrategy: strategy,
    template: { metadata: { labels }, spec: { containers: [{ name: 'logs', image: 'logs:1' }] } },
  },
});

const nodesOf = (pods: readonly Pod[]) =>
  pods.map(({ spec }) => spec?.nodeName ?? '').sort((a, b) => a.localeCompare(b));
const isRolledOut = ({ status, metadata }: DaemonSet): boolean =>
  status?.observedGeneration === metadata?.generation &&
  status?.updatedNumberScheduled === status?.desiredNumberScheduled &&
  status?.numberAvailable === status?.desiredNumberScheduled;

const setImage = (image: string) => ({
  type: 'strategic' as const,
  body: { spec: { template: { spec: { containers: [{ name: 'logs', image }] } } } },
});

describe('a DaemonSet', () => {
  test('has a pod on each node that it tolerates, a cordoned one too', async () => {
    await using member = await TestMember.start();
    const nodes = member.client.resource(NODES);
    await member.until(NODES, (all) => all.length === 3, '');
    await nodes.patch({ name: 'node-2' }, { type: 'merge', body: { spec: { unschedulable: true } } });
    await member.client.resource(DAEMON_SETS).create(daemonSet());
    const pods = await member.until(PODS, (all) => all.filter(({ spec }) => spec?.nodeName).length === 3);
    assert.deepEqual(nodesOf(pods), ['node-1', 'node-2', 'node-3']);
    await member.one(DAEMON_SETS, ref, isRolledOut);
    const taints = [{ key: 'gpu', effect: 'NoExecute' }];
    await nodes.patch({ name: 'node-3' }, { type: 'merge', body: { spec: { taints } } });
    assert.deepEqual(nodesOf(await member.until(PODS, (all) => all.length === 2)), ['node-1', 'node-2']);
    const { status } = await member.one(DAEMON_SETS, ref, (set) => set.status?.desiredNumberScheduled === 2);
    assert.equal(status?.numberMisscheduled, 0);
  });

  for (const [how, rollingUpdate] of [
    ['one after another', { maxUnavailable: 1 }],
    ['the new beside the old', { maxSurge: 1, maxUnavailable: 0 }],
  ] as const) {
    test(`rolls out ${how}`, async () => {
      await using member = await TestMember.start();
      const sets = member.client.resource(DAEMON_SETS);
      await sets.create(daemonSet({ type: 'RollingUpdate', rollingUpdate }));
      await member.one(DAEMON_SETS, ref, (set) => isRolledOut(set) && set.status?.desiredNumberScheduled === 3);
      await sets.patch(ref, setImage('logs:2'));
      await member.one(DAEMON_SETS, ref, (set) => isRolledOut(set) && set.metadata?.generation === 2);
      const pods = await member.until(PODS, (all) => all.length === 3);
      assert.deepEqual(
        pods.map(({ spec }) => spec?.containers[0]?.image),
        ['logs:2', 'logs:2', 'logs:2'],
      );
      const revisions = await member.client.resource(CONTROLLER_REVISIONS).list({ namespace: 'default' });
      assert.deepEqual(
        revisions.items.map(({ revision }) => revision).sort((a, b) => a - b),
        [1, 2],
      );
    });
  }
});

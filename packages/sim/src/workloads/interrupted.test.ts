import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import {
  DAEMON_SETS,
  DEPLOYMENTS,
  EVENTS,
  findCondition,
  isConditionTrue,
  JOBS,
  type Pod,
  PODS,
  STATEFUL_SETS,
} from '@asterism/machinery';
import { TestMember } from '../testing/test-member.ts';

const dataDir = await mkdtemp(join(tmpdir(), 'asterism-sim-again-'));
after(() => rm(dataDir, { recursive: true, force: true }));

const named = (name: string) => ({ name, namespace: 'default' });
const of = (app: string) => ({
  selector: { matchLabels: { app } },
  template: { metadata: { labels: { app } }, spec: { containers: [{ name: 'c', image: 'c' }] } },
});
// What runs when the member stops has failed when it starts again: it goes on where it may be restarted.
const job = { spec: { restartPolicy: 'OnFailure' as const, containers: [{ name: 'c', image: 'c' }] } };
const isOf =
  (app: string) =>
  (pod: Pod): boolean =>
    pod.metadata?.labels?.app === app;

describe('controllers that are interrupted', () => {
  test('go on where they were, and make and count nothing twice', async () => {
    {
      await using member = await TestMember.start({ dataDir });
      const { client } = member;
      await client.resource(STATEFUL_SETS).create({ metadata: named('set'), spec: { replicas: 3, ...of('set') } });
      await client.resource(DAEMON_SETS).create({ metadata: named('daemon'), spec: of('daemon') });
      await client
        .resource(JOBS)
        .create({ metadata: named('job'), spec: { completions: 2, parallelism: 2, template: job } });
      const pods = await member.until(
        PODS,
        (all) => all.some(isOf('set')) && all.some(isOf('daemon')) && all.length > 4,
      );
      const [one] = pods.filter(({ metadata }) => metadata?.labels?.['job-name'] === 'job');
      if (one !== undefined) await member.report(one, { phase: 'Succeeded' });
    }
    await using member = await TestMember.start({ dataDir });
    await member.one(STATEFUL_SETS, named('set'), ({ status }) => status?.availableReplicas === 3);
    await member.one(DAEMON_SETS, named('daemon'), ({ status }) => status?.numberAvailable === 3);
    const isOfJob = (pod: Pod): boolean => pod.metadata?.labels?.['job-name'] === 'job';
    const ofJob = (await member.until(PODS, (all) => all.filter(isOfJob).length === 2)).filter(isOfJob);
    await Promise.all(ofJob.map((pod) => member.report(pod, { phase: 'Succeeded' })));
    const done = await member.one(JOBS, named('job'), ({ status }) => isConditionTrue(status?.conditions, 'Complete'));
    assert.equal(done.status?.succeeded, 2);
    const all = await member.until(PODS, () => true);
    assert.deepEqual(
      [all.filter(isOf('set')).length, all.filter(isOf('daemon')).length, all.filter(isOfJob).length],
      [3, 3, 2],
    );
  });

  test('say why they cannot make pods', async () => {
    await using member = await TestMember.start();
    const { selector, template } = of('web');
    const spec = { ...template.spec, priorityClassName: 'nobody' };
    await member.client
      .resource(DEPLOYMENTS)
      .create({ metadata: named('web'), spec: { replicas: 3, selector, template: { ...template, spec } } });
    const failed = await member.one(DEPLOYMENTS, named('web'), ({ status }) =>
      isConditionTrue(status?.conditions, 'ReplicaFailure'),
    );
    assert.match(findCondition(failed.status?.conditions, 'ReplicaFailure')?.message ?? '', /nobody/);
    const events = await member.until(EVENTS, (all) => all.some(({ reason }) => reason === 'FailedCreate'));
    assert.match(events.find(({ reason }) => reason === 'FailedCreate')?.message ?? '', /^Error creating: .*nobody/);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import { type Cluster, CLUSTERS } from '@asterism/fleet/api';
import { findCondition, isConditionTrue } from '@asterism/machinery';
import { TestFleet } from './testing/test-fleet.ts';

const ready = (cluster: Cluster | undefined) => findCondition(cluster?.status?.conditions, 'Ready');
const taints = (cluster: Cluster | undefined) => (cluster?.spec.taints ?? []).map(({ key }) => key);

test('an agent that stops is Unknown and tainted; back without a token, it is Ready and is not', async () => {
  await using fleet = await TestFleet.start({ timing: { heartbeatTimeoutMs: 1_000 } });
  const { client } = fleet.hub;
  const ref = { name: 'edge-1' };
  const member = await fleet.startMember();
  const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true, cluster: 'edge-1' });
  const agent = fleet.join(member, { token });
  await agent.ready;
  const { uid } = (await client.resource(CLUSTERS).get(ref)).metadata;
  await agent.stop();
  const silent = await untilObject(client, CLUSTERS, ref, (each) => taints(each).length > 0);
  const [taint, ...others] = silent?.spec.taints ?? [];
  assert.deepEqual([taint?.key, taint?.effect], ['asterism.dev/unreachable', 'NoSchedule']);
  assert.deepEqual(others, []);
  assert.deepEqual([ready(silent)?.status, ready(silent)?.reason], ['Unknown', 'AgentSilent']);

  await fleet.join(member).ready;
  const isBack = (each: Cluster | undefined) => ready(each)?.status === 'True' && taints(each).length === 0;
  const back = await untilObject(client, CLUSTERS, ref, isBack);
  assert.equal(back?.metadata.uid, uid);
});

test('a member whose API server is down is not ready; the agent waits for it', async () => {
  await using fleet = await TestFleet.start();
  const { client } = fleet.hub;
  const member = await fleet.startMember();
  const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
  await fleet.join(member, { token }).ready;
  await member.stop();
  const down = await untilObject(client, CLUSTERS, { name: 'edge-1' }, (each) => taints(each).length > 0);
  assert.deepEqual([ready(down)?.status, ready(down)?.reason], ['False', 'ApiServerUnreachable']);
  assert.deepEqual(taints(down), ['asterism.dev/not-ready']);
  assert.match(down?.status?.kubernetesVersion ?? '', /^v1\./, 'what was known of it stays');
});

test('a hub that was away marks nobody: uids, conditions and taints are as they were', async () => {
  await using fleet = await TestFleet.start();
  const member = await fleet.startMember();
  const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
  const agent = fleet.join(member, { token });
  await agent.ready;
  const before = await fleet.hub.client.resource(CLUSTERS).get({ name: 'edge-1' });
  const port = Number(new URL(fleet.hub.url).port);
  const authority = fleet.hub.ca;
  await fleet.hub.stop();
  await fleet.startHub({ listen: { host: '127.0.0.1', port } });
  assert.equal(fleet.hub.ca, authority);
  const { version } = await fleet.reached('edge-1');
  assert.match(version, /^v1\./, 'the tunnel is back');
  const after = await fleet.hub.client.resource(CLUSTERS).get({ name: 'edge-1' });
  assert.deepEqual(after, before, 'not one byte was written');
  assert.ok(isConditionTrue(after.status?.conditions, 'Ready'));
  await agent.stop();
});

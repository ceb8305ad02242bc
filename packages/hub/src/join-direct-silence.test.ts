import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer, untilObject } from '@asterism/apiserver/testing';
import { systemClock } from '@asterism/client';
import { type Cluster, clusterNamespace, CLUSTERS, HEARTBEAT_LEASE } from '@asterism/fleet/api';
import { joinDirect } from '@asterism/fleet/join';
import { findCondition, isConditionTrue, LEASES } from '@asterism/machinery';
import { TestFleet } from './testing/test-fleet.ts';

const ready = (cluster: Cluster | undefined) => findCondition(cluster?.status?.conditions, 'Ready');

test('a member without an agent that gives no answer is Unknown, once and for as long as that lasts', async () => {
  await using fleet = await TestFleet.start({ timing: { heartbeatTimeoutMs: 1_200 } });
  await using gone = await startTestServer();
  await using there = await startTestServer();
  const hub = fleet.client(fleet.hub.adminConnection);
  for (const [clusterName, member] of Object.entries({ gone, there })) {
    const endpoint = { server: member.url, caBundle: member.ca.cert };
    await joinDirect({ clusterName, endpoint }, { hub, member: member.client, clock: systemClock, patienceMs: 5_000 });
    await untilObject(hub, CLUSTERS, { name: clusterName }, (each) =>
      isConditionTrue(each?.status?.conditions, 'Ready'),
    );
  }
  await gone.stop();
  const silent = await untilObject(hub, CLUSTERS, { name: 'gone' }, (each) => (each?.spec.taints ?? []).length > 0);
  assert.deepEqual([ready(silent)?.status, ready(silent)?.reason], ['Unknown', 'ClusterUnreachable']);
  assert.deepEqual(
    silent?.spec.taints?.map(({ key }) => key),
    ['asterism.dev/unreachable'],
  );
  const beats = new Set<string | undefined>();
  await untilObject(hub, LEASES, { namespace: clusterNamespace('there'), name: HEARTBEAT_LEASE }, (lease) => {
    return beats.add(lease?.spec?.renewTime).size > 6;
  });
  const after = await hub.resource(CLUSTERS).get({ name: 'gone' });
  assert.equal(after.metadata.resourceVersion, silent?.metadata.resourceVersion, 'nothing was written since');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer, untilObject } from '@asterism/apiserver/testing';
import { type Clock, systemClock } from '@asterism/client';
import { LEASES, NAMESPACES } from '@asterism/machinery';
import { createManager, silentLogger } from '@asterism/runtime';
import {
  type Cluster,
  CLUSTERS,
  clusterNamespace,
  customResourceDefinitions,
  HEARTBEAT_LEASE,
  LEAVE_FINALIZER,
} from '../../api/index.ts';
import { addLeaving } from './add-leaving.ts';
import { JOIN_TAKEN_OUT } from './leave-state.ts';

const NAME = 'edge-1';
/** Time runs a hundred times as fast, and the wall clock has been set back by a day. */
const clock: Clock = {
  wall: () => new Date(systemClock.wall().getTime() - 86_400_000),
  monotonic: () => systemClock.monotonic() * 100,
  setTimer: (callback, ms, options) => systemClock.setTimer(callback, ms / 100, options),
};

test('an agent that had begun to leave and is silent has left, whatever the wall clocks say', async () => {
  await using hub = await startTestServer({ crds: await customResourceDefinitions() });
  const namespace = clusterNamespace(NAME);
  const spec = { id: 'id', syncMode: 'Pull' as const, connection: { type: 'Tunnel' as const } };
  const metadata = { name: NAME, finalizers: [LEAVE_FINALIZER] };
  const clusters = hub.client.resource<Cluster>(CLUSTERS);
  await clusters.create({ apiVersion: 'asterism.dev/v1alpha1', kind: 'Cluster', metadata, spec });
  const time = `${new Date().toISOString().slice(0, 19)}Z`;
  const begun = { type: JOIN_TAKEN_OUT, status: 'False', reason: 'Begun', message: 'm', lastTransitionTime: time };
  const status = { conditions: [begun] };
  await clusters.patch({ name: NAME }, { type: 'merge', body: { status } }, { subresource: 'status' });
  await hub.client.resource(NAMESPACES).create({ metadata: { name: namespace } });
  const renewTime = `${time.slice(0, -1)}.000000Z`;
  await hub.client.resource(LEASES).create({ metadata: { name: HEARTBEAT_LEASE, namespace }, spec: { renewTime } });
  const manager = createManager({ client: hub.client, clock, logger: silentLogger });
  addLeaving(manager, { clock });
  const stopping = new AbortController();
  const done = manager.start(stopping.signal);
  const began = clock.monotonic();
  await clusters.delete({ name: NAME });
  await untilObject(hub.client, CLUSTERS, { name: NAME }, (each) => each === undefined);
  assert.ok(clock.monotonic() - began >= 30_000, 'it was heard a moment ago');
  stopping.abort();
  await done;
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import { findCondition } from '@asterism/machinery';
import {
  CLUSTER_PROPAGATION_POLICIES,
  type ClusterPropagationPolicy,
  PROPAGATION_POLICIES,
  type PropagationPolicy,
} from '../api/index.ts';
import { Fleet } from '../deliver/testing/fleet.ts';

const SECRET = { apiVersion: 'v1', kind: 'Secret' };
const valid = (policy: PropagationPolicy | ClusterPropagationPolicy | undefined) =>
  findCondition(policy?.status?.conditions, 'Valid');

test('a policy says which of its selectors select nothing, and that they do again; one that was never wrong says nothing', async () => {
  await using fleet = await Fleet.start({ ant: {} });
  const { hub } = fleet;
  const own = { namespace: 'demo', name: 'elsewhere' };
  await hub.resource(PROPAGATION_POLICIES).create({
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: own,
    spec: { resourceSelectors: [SECRET, { ...SECRET, namespace: 'prod' }] },
  });
  for (const [name, key] of [
    ['fine', 'a'],
    ['unreadable', 'a b'],
  ] as const) {
    await hub.resource(CLUSTER_PROPAGATION_POLICIES).create({
      apiVersion: 'asterism.dev/v1alpha1',
      kind: 'ClusterPropagationPolicy',
      metadata: { name },
      spec: { resourceSelectors: [{ ...SECRET, labelSelector: { matchLabels: { [key]: '' } } }] },
    });
  }
  await fleet.run();
  const told = await untilObject(hub, PROPAGATION_POLICIES, own, (policy) => valid(policy)?.status === 'False');
  assert.match(valid(told)?.message ?? '', /^spec\.resourceSelectors\[1\]\.namespace: Invalid value: "prod"/);
  const wide = { name: 'unreadable' };
  const unread = await untilObject(
    hub,
    CLUSTER_PROPAGATION_POLICIES,
    wide,
    (policy) => valid(policy)?.status === 'False',
  );
  assert.match(valid(unread)?.message ?? '', /^spec\.resourceSelectors\[0\]\.labelSelector: .*"a b"/);
  const body = { spec: { resourceSelectors: [SECRET] } };
  await hub.resource(PROPAGATION_POLICIES).patch(own, { type: 'merge', body });
  await untilObject(hub, PROPAGATION_POLICIES, own, (policy) => valid(policy)?.status === 'True');
  assert.equal((await hub.resource(CLUSTER_PROPAGATION_POLICIES).get({ name: 'fine' })).status, undefined);
  const writes = fleet.writes.filter((write) => write.includes('propagationpolicies'));
  assert.equal(writes.length, 3, writes.join('; '));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer } from '@asterism/apiserver/testing';
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, NAMESPACES } from '@asterism/machinery';
import { SYSTEM_NAMESPACE } from '../../api/index.ts';
import { memberManifests } from '../access/member-manifests.ts';
import { applyInMember } from '../install/install-agent.ts';
import { takeOutJoin } from './take-out-join.ts';

test('without a binding of its own a join takes out nothing that hangs on the binding of another', async () => {
  await using member = await startTestServer();
  const { client } = member;
  await applyInMember(client, memberManifests({ syncMode: 'Pull' }));
  await takeOutJoin(client, { root: 'asterism:hub' });
  for (const name of ['asterism:agent', 'asterism:callers']) {
    await client.resource(CLUSTER_ROLES).get({ name });
    await client.resource(CLUSTER_ROLE_BINDINGS).get({ name });
  }
  const { metadata } = await client.resource(NAMESPACES).get({ name: SYSTEM_NAMESPACE });
  assert.equal(metadata?.deletionTimestamp, undefined);
});

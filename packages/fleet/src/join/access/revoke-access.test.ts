import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer } from '@asterism/apiserver/testing';
import { CLUSTER_ROLE_BINDINGS, type ClusterRoleBinding, type KubeObject, ROLE_BINDINGS } from '@asterism/machinery';
import type { Cache } from '@asterism/runtime';
import { revokeAccess } from './revoke-access.ts';

const RBAC = 'rbac.authorization.k8s.io';

test('of the bindings of a Cluster that is gone nothing is left for anybody, and others are not touched', async () => {
  await using server = await startTestServer();
  const { client } = server;
  const binding = (name: string, labels: Record<string, string>, namespace?: string): ClusterRoleBinding => ({
    metadata: { name, labels, ...(namespace === undefined ? {} : { namespace }) },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'view' },
    subjects: [{ apiGroup: RBAC, kind: 'Group', name: 'asterism:agent-key:k' }],
  });
  const ofEdge = { 'asterism.dev/cluster': 'edge-1' };
  const wide = client.resource(CLUSTER_ROLE_BINDINGS);
  const narrow = client.resource(ROLE_BINDINGS);
  const gone = await wide.create(binding('gone', ofEdge));
  await wide.create(binding('other', { 'asterism.dev/cluster': 'edge-2' }));
  await wide.create(binding('again', ofEdge));
  await narrow.create(binding('gone', ofEdge, 'default'));
  const seen = new Map<unknown, KubeObject[]>([
    [CLUSTER_ROLE_BINDINGS, (await wide.list()).items],
    [
      ROLE_BINDINGS,
      [
        ...(await narrow.list({ namespace: 'default' })).items,
        { ...gone, metadata: { name: 'x', namespace: 'default', labels: ofEdge } },
      ],
    ],
  ]);
  // Between the look and the deed a cluster of that name joined.
  await wide.delete({ name: 'again' });
  await wide.create(binding('again', ofEdge));
  const cache = { list: (type: unknown) => seen.get(type) } as unknown as Cache;
  await revokeAccess({ client, cache }, 'edge-1', AbortSignal.timeout(5_000));
  const subjects = async (name: string) => (await wide.get({ name })).subjects?.length ?? 0;
  assert.deepEqual([await subjects('gone'), await subjects('other'), await subjects('again')], [0, 1, 1]);
  assert.equal((await narrow.get({ namespace: 'default', name: 'gone' })).subjects?.length ?? 0, 0);
});

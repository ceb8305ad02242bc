import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CERTIFICATE_SIGNING_REQUESTS,
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  type ClusterRole,
} from '@asterism/machinery';
import { createSigningRequest } from '../pki/index.ts';
import { startTestServer } from '../testing/index.ts';
import { alice, RBAC } from './testing/grant.ts';

test('who may not sign is refused what is a certificate, and what is none is refused everybody', async () => {
  await using server = await startTestServer();
  const apiGroups = ['certificates.k8s.io'];
  const rules = [{ apiGroups, resources: ['certificatesigningrequests/status'], verbs: ['patch'] }];
  await server.client.resource<ClusterRole>(CLUSTER_ROLES).create({ metadata: { name: 'writer' }, rules });
  await server.client.resource(CLUSTER_ROLE_BINDINGS).create({
    metadata: { name: 'writer' },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'writer' },
    subjects: [{ apiGroup: RBAC, kind: 'User', name: 'alice' }],
  });
  const { csr } = await createSigningRequest({ commonName: 'x' });
  const requests = server.client.resource(CERTIFICATE_SIGNING_REQUESTS);
  await requests.create({
    metadata: { name: 'x' },
    spec: {
      request: Buffer.from(csr).toString('base64'),
      signerName: 'example.com/other',
      usages: ['client auth'],
    },
  });
  const put = async (certificate: string): Promise<unknown> => {
    const body = { status: { certificate: Buffer.from(certificate).toString('base64') } };
    const theirs = server.clientAs(alice).resource(CERTIFICATE_SIGNING_REQUESTS);
    return await theirs.patch({ name: 'x' }, { type: 'merge', body }, { subresource: 'status' });
  };
  await assert.rejects(put('nonsense'), { code: 422 });
  await assert.rejects(put(server.ca.cert), { code: 403, message: /signerName "example.com\/other"/ });
});

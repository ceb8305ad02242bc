import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  CERTIFICATE_SIGNING_REQUESTS,
  type CertificateSigningRequest,
  CLUSTER_ROLE_BINDINGS,
  CONFIG_MAPS,
} from '@asterism/machinery';
import type { UserInfo } from '../contract/user-info.ts';
import { startTestServer, type TestServer } from '../testing/index.ts';
import { createSigningRequest } from './index.ts';

const SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet';
const BOOTSTRAP: UserInfo = { username: 'system:bootstrap:abcdef', groups: ['system:bootstrappers'] };
const NODE: UserInfo = { username: 'system:node:n1', groups: ['system:nodes'] };
const OTHER_NODE: UserInfo = { username: 'system:node:n2', groups: ['system:nodes'] };
const ROLE = 'system:certificates.k8s.io:certificatesigningrequests';

async function bind(server: TestServer, role: string, group: string): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io';
  await server.client.resource(CLUSTER_ROLE_BINDINGS).create({
    metadata: { name: `${role}-${group}`.replaceAll(':', '-') },
    subjects: [{ apiGroup, kind: 'Group', name: group }],
    roleRef: { apiGroup, kind: 'ClusterRole', name: role },
  });
}

async function ask(
  server: TestServer,
  user: UserInfo,
  subject: { commonName?: string; organizations?: string[]; dnsNames?: string[] } = {},
  signerName = SIGNER,
): Promise<string> {
  const { csr } = await createSigningRequest({
    commonName: 'system:node:n1',
    organizations: ['system:nodes'],
    ...subject,
  });
  const made = await server
    .clientAs(user)
    .resource(CERTIFICATE_SIGNING_REQUESTS)
    .create({
      metadata: { generateName: 'csr-' },
      spec: { request: Buffer.from(csr).toString('base64'), signerName, usages: ['digital signature', 'client auth'] },
    });
  return made.metadata?.name ?? '';
}

/** Resolves when the request has the condition. */
async function seen(server: TestServer, name: string, type: string): Promise<CertificateSigningRequest> {
  const requests = server.client.resource(CERTIFICATE_SIGNING_REQUESTS);
  for await (const event of requests.watch({
    fieldSelector: `metadata.name=${name}`,
    signal: AbortSignal.timeout(5_000),
  })) {
    if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue;
    if (event.object.status?.conditions?.some((condition) => condition.type === type)) return event.object;
  }
  throw new Error('the watch ended');
}

describe('approval without a person', () => {
  const approved: [name: string, role: string, group: string, user: UserInfo, message: RegExp][] = [
    ['of a new node', 'nodeclient', 'system:bootstrappers', BOOTSTRAP, /^Auto approving kubelet client/],
    ['of a node for itself', 'selfnodeclient', 'system:nodes', NODE, /^Auto approving self kubelet client/],
  ];
  for (const [name, role, group, user, message] of approved) {
    test(`${name}, by a right that was given`, async () => {
      await using server = await startTestServer();
      await bind(server, 'system:node-bootstrapper', group);
      await bind(server, `${ROLE}:${role}`, group);
      const { status } = await seen(server, await ask(server, user), 'Approved');
      const condition = status?.conditions?.find(({ type }) => type === 'Approved');
      assert.equal(condition?.reason, 'AutoApproved');
      assert.match(condition.message ?? '', message);
    });
  }

  const left: [name: string, roles: string[], user: UserInfo, subject: object, signer: string | undefined][] = [
    ['without the right', [], BOOTSTRAP, {}, undefined],
    ['of another node than it asks for', ['selfnodeclient'], BOOTSTRAP, {}, undefined],
    ['of a further group', ['nodeclient'], BOOTSTRAP, { organizations: ['system:nodes', 'a'] }, undefined],
    ['of a name that is no node', ['nodeclient'], BOOTSTRAP, { commonName: 'admin' }, undefined],
    ['with a host name', ['nodeclient'], BOOTSTRAP, { dnsNames: ['n1'] }, undefined],
    ['of another signer', ['nodeclient'], BOOTSTRAP, {}, 'kubernetes.io/kube-apiserver-client'],
  ];
  for (const [name, roles, user, subject, signer] of left) {
    test(`a request ${name} waits for a person`, async () => {
      await using server = await startTestServer();
      await bind(server, 'system:node-bootstrapper', 'system:bootstrappers');
      for (const role of roles) await bind(server, `${ROLE}:${role}`, 'system:bootstrappers');
      const request = await ask(server, user, subject, signer);
      // One that is approved, asked for later, says that the first has been looked at.
      await bind(server, `${ROLE}:nodeclient`, 'system:masters');
      await seen(server, await ask(server, { username: 'admin', groups: ['system:masters'] }), 'Approved');
      const { status } = await server.client.resource(CERTIFICATE_SIGNING_REQUESTS).get({ name: request });
      assert.equal(status?.conditions, undefined);
    });
  }

  test('a node cannot have one approved for another node', async () => {
    await using server = await startTestServer();
    await bind(server, `${ROLE}:selfnodeclient`, 'system:nodes');
    await assert.rejects(ask(server, OTHER_NODE), { code: 403, message: /CN=system:node:n2$/ });
    await assert.rejects(server.clientAs(NODE).resource(CONFIG_MAPS).list({ namespace: 'default' }), { code: 403 });
  });
});

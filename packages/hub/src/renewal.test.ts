import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import type { TestServer } from '@asterism/apiserver/testing';
import { untilObject } from '@asterism/apiserver/testing';
import type { Client } from '@asterism/client';
import { CLUSTERS, memberProxyPath } from '@asterism/fleet/api';
import { agentCertificateRequest, createAgentKey } from '@asterism/fleet/join';
import {
  CERTIFICATE_SIGNING_REQUESTS,
  CONFIG_MAPS,
  findCondition,
  isConditionTrue,
  type Secret,
  SECRETS,
} from '@asterism/machinery';
import { apply, call, TestFleet } from './testing/test-fleet.ts';

const CREDENTIAL = { namespace: 'asterism-system', name: 'agent-credential' };

const certificateOf = ({ data = {} }: Secret): X509Certificate =>
  new X509Certificate(Buffer.from(data['tls.crt'] ?? '', 'base64'));

describe('certificates that live for three seconds', () => {
  let fleet: TestFleet;
  let member: TestServer;
  let admin: Client;

  before(async () => {
    fleet = await TestFleet.start({ signingDurationMs: 3_000 });
    member = await fleet.startMember();
    await apply(member.client, [
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'hub-admins' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'asterism:admins' }],
      },
    ]);
    const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
    await fleet.join(member, { token }).ready;
    admin = fleet.client(fleet.hub.adminConnection);
  });
  after(() => fleet[Symbol.asyncDispose]());

  test('are renewed in time with the same key, and nothing that runs notices', async () => {
    const first = certificateOf(await member.client.resource(SECRETS).get(CREDENTIAL));
    const path = `${memberProxyPath('edge-1')}/api/v1/namespaces/default/configmaps?watch=true`;
    const { body } = await admin.request({ method: 'GET', path, long: true });
    let text = '';
    body.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    let ended = false;
    body.once('end', () => {
      ended = true;
    });
    const seen = new Set<string>();
    const last = await untilObject(member.client, SECRETS, CREDENTIAL, (secret) => {
      if (secret) seen.add(certificateOf(secret).serialNumber);
      return seen.size > 2;
    });
    assert.ok(last);
    const renewed = certificateOf(last);
    assert.ok(first.validToDate.getTime() <= Date.now(), 'the first has ended');
    assert.deepEqual(renewed.publicKey.export({ format: 'jwk' }), first.publicKey.export({ format: 'jwk' }));
    assert.equal(renewed.subject, first.subject);
    // What began with the first certificate goes on.
    assert.equal(ended, false);
    await member.client.resource(CONFIG_MAPS).create({ metadata: { namespace: 'default', name: 'later' } });
    while (!text.includes('"later"')) await once(body, 'data');
    // What begins now goes by a new one: the first is not taken any more.
    const { status } = await admin.resource(CLUSTERS).get({ name: 'edge-1' });
    assert.ok(isConditionTrue(status?.conditions, 'Ready'));
    const told = findCondition(status?.conditions, 'CertificateCurrent');
    assert.equal(told?.status, 'True', told?.message);
    body.destroy();
  });

  test('are renewed under calls, of which none fails', async () => {
    const seen = new Set<string>();
    const renewals = untilObject(member.client, SECRETS, CREDENTIAL, (secret) => {
      if (secret) seen.add(certificateOf(secret).serialNumber);
      return seen.size > 2;
    });
    let over = false;
    const end = (): void => {
      over = true;
    };
    void renewals.then(end, end);
    const answers = new Map<number, number>();
    const calling = async (): Promise<void> => {
      while (!over) {
        const { status } = await call(
          admin,
          'GET',
          `${memberProxyPath('edge-1')}/api/v1/namespaces/default/configmaps`,
        );
        answers.set(status, (answers.get(status) ?? 0) + 1);
      }
    };
    await Promise.all([renewals, ...Array.from({ length: 4 }, calling)]);
    assert.deepEqual([...answers.keys()], [200]);
    assert.ok((answers.get(200) ?? 0) > 20);
  });

  test('are given to the agent for its own name and key alone', async () => {
    const agent = await fleet.agentOf(member);
    const requests = agent.resource(CERTIFICATE_SIGNING_REQUESTS);
    const refused = async (clusterName: string, reason: string) => {
      const name = `by-hand-${reason.toLowerCase()}`;
      await requests.create(agentCertificateRequest(clusterName, createAgentKey(), { name }));
      const settled = await untilObject(
        admin,
        CERTIFICATE_SIGNING_REQUESTS,
        { name },
        (each) => !!each?.status?.conditions,
      );
      assert.deepEqual(
        settled?.status?.conditions?.map((each) => [each.type, each.reason]),
        [['Denied', reason]],
      );
    };
    await refused('edge-2', 'WrongSubject');
    await refused('edge-1', 'KeyDiffers');
  });

  test('are no matter of the hub where somebody else asks', async () => {
    const request = agentCertificateRequest('edge-1', createAgentKey(), { name: 'by-an-administrator' });
    await admin.resource(CERTIFICATE_SIGNING_REQUESTS).create(request);
    const agent = await fleet.agentOf(member);
    // One that came later is decided about.
    const later = agentCertificateRequest('edge-1', createAgentKey(), { name: 'by-the-agent' });
    await agent.resource(CERTIFICATE_SIGNING_REQUESTS).create(later);
    await untilObject(
      admin,
      CERTIFICATE_SIGNING_REQUESTS,
      { name: 'by-the-agent' },
      (each) => !!each?.status?.conditions,
    );
    const { status } = await admin.resource(CERTIFICATE_SIGNING_REQUESTS).get({ name: 'by-an-administrator' });
    assert.deepEqual(status?.conditions ?? [], []);
  });
});

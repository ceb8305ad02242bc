import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createCertificateAuthority, issueCertificate } from '@asterism/apiserver';
import { startTestServer, type TestServer, untilObject } from '@asterism/apiserver/testing';
import { type Clock, createClient, createTransport, systemClock } from '@asterism/client';
import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  ifFound,
  type KubeObject,
  NAMESPACES,
  SECRETS,
} from '@asterism/machinery';
import { AGENTS_GROUP, agentUser, SYSTEM_NAMESPACE } from '../../api/index.ts';
import { saveAgentCredential } from '../connect/agent-credential.ts';
import { agentManifests } from '../install/agent-manifests.ts';
import { applyInMember } from '../install/install-agent.ts';
import { checkMember, type CheckMemberOptions } from './check-member.ts';

const PIN = `sha256:${'0a'.repeat(32)}`;
const objects = agentManifests({
  clusterName: 'edge-1',
  syncMode: 'Pull',
  hub: { server: 'https://hub:7443', ca: PIN, token: 'abcdef.0123456789abcdef' },
  image: 'agent',
});

let member: TestServer;
before(async () => {
  member = await startTestServer();
});
after(() => member[Symbol.asyncDispose]());

function check(change: Partial<CheckMemberOptions> = {}) {
  const options = { where: member.url, clusterName: 'edge-1', hubAuthority: undefined, objects, clock: systemClock };
  return checkMember({ member: member.client, ...options, ...change });
}

async function faultOf(change: Partial<CheckMemberOptions>): Promise<string> {
  const faults = (await check(change)).findings.filter(({ state }) => state === 'Fault');
  assert.equal(faults.length, 1, JSON.stringify(faults));
  return `${faults[0]?.check}: ${faults[0]?.message} -> ${faults[0]?.remedy}`;
}

async function agentOf(name: string, client = member.client) {
  const ca = await createCertificateAuthority({ commonName: 'hub' });
  const { cert, key } = await issueCertificate(ca, {
    commonName: agentUser(name),
    organizations: [AGENTS_GROUP],
    usages: ['client'],
    days: 1,
  });
  await saveAgentCredential(client, { key, certificate: cert, authority: ca.cert });
  return ca.cert;
}

describe('what is looked at in a cluster before it joins', () => {
  test('nothing to complain of, and nothing is changed', async () => {
    const { findings, joinedAs } = await check();
    assert.deepEqual(
      findings.map((finding) => [finding.check, finding.state]),
      ['version', 'cluster clock', 'rights', 'joined'].map((name) => [name, 'Fine']),
    );
    assert.equal(joinedAs, undefined);
    await assert.rejects(member.client.resource(NAMESPACES).get({ name: SYSTEM_NAMESPACE }), /not found/);
  });

  test('rights: each that is missing is named', async () => {
    const reader = member.clientAs({ username: 'reader', groups: ['system:authenticated'] });
    const line = await faultOf({ member: reader });
    assert.match(line, /^(rights|cluster): /);
    assert.match(line, /create namespaces; patch namespaces/);
    assert.match(line, /patch deployments\.apps in asterism-system/);
    assert.match(line, /escalate clusterroles\.rbac\.authorization\.k8s\.io; bind clusterroles/);
    assert.match(line, / -> use a kubeconfig of an administrator/);
  });

  test('a user that is not known', async () => {
    const { url: server, ca } = member;
    const credential = { kind: 'token', token: 'nobody' } as const;
    await using transport = createTransport({ server, caData: ca.cert, credential });
    assert.match(
      await faultOf({ member: createClient({ transport }) }),
      /^cluster: https:\S+ does not know the user of the kubeconfig \(401\) -> check the user of the kubeconfig/,
    );
  });

  test('nobody answers', async () => {
    const credential = { kind: 'none' } as const;
    await using transport = createTransport({ server: 'https://127.0.0.1:1', caData: member.ca.cert, credential });
    assert.match(
      await faultOf({ member: createClient({ transport }) }),
      /^cluster: .*ECONNREFUSED.* -> check the kubeconfig/,
    );
  });

  test('its clock', async () => {
    const ahead: Clock = { ...systemClock, wall: () => new Date(Date.now() + 3_600_000) };
    assert.match(await faultOf({ clock: ahead }), /^cluster clock: .* is 60 min behind this machine's/);
  });

  test('its version', async () => {
    await using old = await startTestServer({ version: { gitVersion: 'v1.19.16' } });
    assert.match(
      await faultOf({ member: old.client }),
      /^version: .* is Kubernetes v1\.19\.16: older than 1\.20, the oldest that can join -> upgrade it$/,
    );
  });

  test('a namespace of somebody else is left alone, and said to stay', async () => {
    await using other = await startTestServer();
    await other.client.resource(NAMESPACES).create({ metadata: { name: SYSTEM_NAMESPACE } });
    const { findings } = await check({ member: other.client });
    assert.match(findings.find((finding) => finding.check === 'namespace')?.message ?? '', /it will stay/);
    await applyInMember(other.client, objects);
    const { metadata } = await other.client.resource(NAMESPACES).get({ name: SYSTEM_NAMESPACE });
    assert.equal(metadata?.labels?.['asterism.dev/made-by'], undefined);
  });

  test('joined already: the same, by another name, to another hub', async () => {
    await applyInMember(member.client, objects);
    await applyInMember(member.client, objects);
    const authority = await agentOf('edge-1');
    assert.equal((await check({ hubAuthority: authority })).joinedAs, 'edge-1');
    assert.match(
      await faultOf({ clusterName: 'edge-2', hubAuthority: authority }),
      /^joined: .* has joined this hub as "edge-1", not as "edge-2" -> give --name edge-1, or take it out first: aster leave edge-1\. If the hub has let it go by force, delete here what that join made: kubectl /,
    );
    assert.match(
      await faultOf({ hubAuthority: PIN }),
      /^joined: .* has joined another hub, as "edge-1" -> take it out there first: aster leave edge-1\. Only if that hub is gone, delete here what that join made: kubectl /,
    );
    const token = await member.client.resource(SECRETS).get({ namespace: SYSTEM_NAMESPACE, name: 'agent-bootstrap' });
    assert.equal(Buffer.from(token.data?.['token'] ?? '', 'base64').toString(), 'abcdef.0123456789abcdef');
  });

  for (const whose of ['its own', 'somebody else’s']) {
    test(`joined to a hub that is gone: what it says to call there makes it free, in a namespace that was ${whose}`, async () => {
      await using other = await startTestServer();
      const { client } = other;
      if (whose !== 'its own') await client.resource(NAMESPACES).create({ metadata: { name: SYSTEM_NAMESPACE } });
      await applyInMember(client, objects);
      await agentOf('edge-1', client);
      const commands = (await faultOf({ member: client, hubAuthority: PIN })).split('that join made: ')[1] ?? '';
      assert.deepEqual(commands.split(' && '), [
        'kubectl delete clusterrolebinding,clusterrole,namespace -l asterism.dev/made-by=join',
        'kubectl delete secret agent-credential -n asterism-system --ignore-not-found',
      ]);
      for (const type of [CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, NAMESPACES]) {
        const { items } = await client.resource<KubeObject>(type).list({ labelSelector: 'asterism.dev/made-by=join' });
        for (const { metadata } of items) await client.resource(type).delete({ name: metadata?.name ?? '' });
      }
      const secret = { namespace: SYSTEM_NAMESPACE, name: 'agent-credential' };
      await ifFound(client.resource(SECRETS).delete(secret));
      await untilObject(
        client,
        NAMESPACES,
        { name: SYSTEM_NAMESPACE },
        (object) => object?.metadata?.deletionTimestamp === undefined,
      );
      const { findings } = await check({ member: client, hubAuthority: PIN });
      assert.deepEqual(
        findings.filter(({ state }) => state === 'Fault'),
        [],
      );
      assert.equal(findings.find((finding) => finding.check === 'joined')?.state, 'Fine');
    });
  }
});

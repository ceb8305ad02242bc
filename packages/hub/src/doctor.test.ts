import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { TestServer } from '@asterism/apiserver/testing';
import { type Client, createClient, systemClock, withBasePath } from '@asterism/client';
import { CALLERS_ROLE, CLUSTERS, memberProxyPath, PROXY_GROUP } from '@asterism/fleet/api';
import { examineCluster, type Finding, memberManifests } from '@asterism/fleet/join';
import { CLUSTER_ROLE_BINDINGS } from '@asterism/machinery';
import { grant } from './testing/grant.ts';
import { apply, call, TestFleet } from './testing/test-fleet.ts';

const through = (client: Client): Client =>
  createClient({ transport: withBasePath(client.transport, memberProxyPath('edge-1')) });

describe('what the doctor makes of a way into a member that is closed', () => {
  let fleet: TestFleet;
  let member: TestServer;
  let ann: Client;

  before(async () => {
    fleet = await TestFleet.start();
    member = await fleet.startMember();
    const proxy = { apiGroups: [PROXY_GROUP], resources: ['clusters/proxy'], verbs: ['*'] };
    await apply(fleet.hub.client, grant('people', { kind: 'Group', name: 'people' }, proxy));
    const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
    await fleet.join(member, { token }).ready;
    ann = await fleet.person('ann', 'people');
  });
  after(() => fleet[Symbol.asyncDispose]());

  /** Looked at as this caller, the way in is told so. */
  async function told(caller: Client, pattern: RegExp): Promise<void> {
    const findings = await wayIn(fleet, caller);
    assert.equal(findings.length, 1);
    for (const { check, state, message, remedy = '' } of findings) {
      assert.match(`${state} ${check}: ${message} -> ${remedy}`, pattern);
    }
  }

  test('nothing, where it is open', () => told(ann, /^Fine way in: /));

  test('the caller has no right in the hub', async () => {
    const carl = await fleet.person('carl', 'team');
    await told(carl, /^Remark way in: .*User "carl" cannot get .* -> get clusters\.proxy\.\S+ of "edge-1" allowed in/);
  });

  test('the caller’s name is the system’s', async () => {
    const system = await fleet.person('system:kube-scheduler', 'people');
    await told(system, /^Remark way in: .* -> ask as somebody whose name does not begin with system:/);
  });

  test('the member lets the caller see nothing', async () => {
    const bindings = member.client.resource(CLUSTER_ROLE_BINDINGS);
    const names = ['system:discovery', 'system:public-info-viewer'];
    const taken = await Promise.all(names.map((name) => bindings.get({ name })));
    for (const name of names) await bindings.delete({ name });
    await told(ann, /^Remark way in: .*User "ann" cannot get path "\/version" -> .*allowed by the RBAC of "edge-1"/);
    for (const { metadata, ...rest } of taken) await bindings.create({ metadata: { name: metadata?.name }, ...rest });
  });

  test('mode off', async () => {
    const setMode = async (mode: string, status: number): Promise<void> => {
      const body = { spec: { reach: { mode } } };
      await fleet.hub.client.resource(CLUSTERS).patch({ name: 'edge-1' }, { type: 'merge', body });
      for (const late = AbortSignal.timeout(5_000); (await call(through(ann), 'GET', '/version')).status !== status; )
        assert.ok(!late.aborted, `${mode} is not followed`);
    };
    await setMode('off', 403);
    await told(
      ann,
      /^Remark way in: .*"off".* -> where callers shall come in: set spec\.reach\.mode of Cluster "edge-1"/,
    );
    await setMode('impersonate', 200);
  });

  test('the member’s binding of callers was taken away, until the manifests are applied as it says', async () => {
    await member.client.resource(CLUSTER_ROLE_BINDINGS).delete({ name: CALLERS_ROLE });
    await told(
      ann,
      /^Fault impersonation: .*does not let the hub come as "ann".* -> apply the manifests .*: aster agent manifests --mode pull$/,
    );
    const isBinding = ({ kind, metadata }: { kind?: string; metadata?: { name?: string } }): boolean =>
      kind === 'ClusterRoleBinding' && metadata?.name === CALLERS_ROLE;
    await apply(member.client, memberManifests({ syncMode: 'Pull' }).filter(isBinding));
    await told(ann, /^Fine way in: /);
  });
});

test('what the doctor makes of an agent that lets nobody in', async () => {
  await using fleet = await TestFleet.start();
  const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
  await fleet.join(await fleet.startMember(), { token, reachMode: 'off' }).ready;
  const [found] = await wayIn(fleet, fleet.client(fleet.hub.adminConnection));
  assert.equal(found?.state, 'Remark');
  assert.match(found.message, /the agent refuses GET \/version/);
  assert.match(found.remedy ?? '', /with another --reach/);
});

async function wayIn({ hub }: TestFleet, caller: Client): Promise<Finding[]> {
  const findings = await examineCluster(await hub.client.resource(CLUSTERS).get({ name: 'edge-1' }), {
    hub: hub.client,
    member: () => through(caller),
    clock: systemClock,
    aheadMs: 0,
    version: 'v0.1.0',
    registrations: [],
  });
  return findings.filter(({ check }) => check === 'way in' || check === 'impersonation');
}

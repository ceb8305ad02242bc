import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { startTestServer, type TestServer, untilObject } from '@asterism/apiserver/testing';
import type { Client } from '@asterism/client';
import {
  CLUSTER_REGISTRATIONS,
  clusterNamespace,
  type ClusterRegistration,
  CLUSTERS,
  HUB_SERVICE_ACCOUNT,
  SYSTEM_NAMESPACE,
} from '@asterism/fleet/api';
import {
  createAgentKey,
  memberManifests,
  newRequestName,
  type RegistrationClaim,
  registrationObjects,
  submitRegistration,
} from '@asterism/fleet/join';
import {
  CERTIFICATE_SIGNING_REQUESTS,
  CLUSTER_ROLE_BINDINGS,
  type ClusterRole,
  findCondition,
  isStatusError,
  parseJson,
  SECRETS,
} from '@asterism/machinery';
import { AGENT, apply, call, TestFleet } from './testing/test-fleet.ts';

/** Holes of another system of this kind, found by reading it. Each test is named after its hole, and shows that it is not here. */
describe('the hole', () => {
  let fleet: TestFleet;
  let admin: Client;
  /** Joined in Pull as `edge-1` and in Push as `edge-2`. */
  let pull: TestServer;
  let push: TestServer;
  /** The right to ask, and a promise of approval. */
  let asker: Client;
  let promised: string;

  before(async () => {
    fleet = await TestFleet.start();
    admin = fleet.client(fleet.hub.adminConnection);
    pull = await fleet.startMember();
    push = await fleet.startMember('Push');
    ({ token: promised } = await fleet.hub.createBootstrapToken({ autoApprove: true }));
    await fleet.join(pull, { token: promised }).ready;
    const endpoint = { server: push.url };
    await fleet.join(push, { clusterName: 'edge-2', syncMode: 'Push', token: promised, endpoint }).ready;
    asker = tokenClient((await fleet.hub.createBootstrapToken()).token);
  });
  after(() => fleet[Symbol.asyncDispose]());

  function tokenClient(token: string): Client {
    return fleet.client({ server: fleet.hub.url, caData: fleet.hub.ca, credential: { kind: 'token', token } });
  }

  /** Asks by hand; resolves with the registration when the hub has said something about it. */
  async function ask(
    client: Client,
    claim: Partial<RegistrationClaim>,
    key: string = createAgentKey(),
  ): Promise<ClusterRegistration> {
    const whole = { clusterId: 'id', clusterName: 'edge-9', syncMode: 'Pull' as const, ...claim };
    const name = newRequestName(whole.clusterName);
    await submitRegistration(client, registrationObjects(whole, key, name));
    const told = await untilObject(
      admin,
      CLUSTER_REGISTRATIONS,
      { name },
      (each) => each?.status?.message !== undefined,
    );
    assert.ok(told);
    return told;
  }

  const reasonOf = ({ status }: ClusterRegistration) => findCondition(status?.conditions, 'Complete')?.reason;

  const certificateOf = async ({ spec }: ClusterRegistration) =>
    (await admin.resource(CERTIFICATE_SIGNING_REQUESTS).get({ name: spec.certificateRequest })).status?.certificate;

  async function kept(member: TestServer): Promise<(entry: string) => string> {
    const ref = { namespace: SYSTEM_NAMESPACE, name: 'agent-credential' };
    const { data = {} } = await member.client.resource(SECRETS).get(ref);
    return (entry) => Buffer.from(data[entry] ?? '', 'base64').toString();
  }

  test('2, every agent may get every Secret: here none may get one, not even its own', async () => {
    const secrets = ['edge-1', 'edge-2'].map((name) => `/api/v1/namespaces/${clusterNamespace(name)}/secrets`);
    const paths = [
      ...secrets,
      `${secrets[1]}/hub-credential`,
      '/api/v1/secrets',
      '/api/v1/namespaces/kube-system/secrets',
    ];
    for (const member of [pull, push]) {
      const agent = await fleet.agentOf(member);
      for (const path of paths) assert.equal((await call(agent, 'GET', path)).status, 403, path);
    }
    // What the agent in Push may do with the one that it fills does not show it either.
    const body = { metadata: { annotations: { a: 'b' } } };
    const pulling = await fleet.agentOf(pull);
    assert.equal((await call(pulling, 'PATCH', `${secrets[1]}/hub-credential`, { body })).status, 403);
  });

  test('3, credentials in a status that others read: here no status has one, and nobody finds a registration', async () => {
    const { name = '' } = (await admin.resource(CLUSTER_REGISTRATIONS).list()).items[0]?.metadata ?? {};
    assert.match(name, /-[0-9a-f]{16}$/, 'its name cannot be guessed');
    for (const client of [asker, await fleet.agentOf(pull)]) {
      for (const kind of [
        'asterism.dev/v1alpha1/clusterregistrations',
        'certificates.k8s.io/v1/certificatesigningrequests',
      ]) {
        assert.equal((await call(client, 'GET', `/apis/${kind}`)).status, 403);
      }
    }
    const said = JSON.stringify([
      await admin.resource(CLUSTER_REGISTRATIONS).list(),
      await admin.resource(CERTIFICATE_SIGNING_REQUESTS).list(),
      await admin.resource(CLUSTERS).list(),
    ]);
    for (const member of [pull, push]) {
      const key = (await kept(member))('tls.key');
      assert.match(key, /BEGIN PRIVATE KEY/);
      assert.ok(!said.includes(Buffer.from(key).toString('base64')) && !said.includes(key.split('\n')[1] ?? key));
    }
    assert.ok(!said.includes(promised) && !/"token"|PRIVATE KEY/.test(said));
    // Whoever knew the name would get a certificate without its key.
    const read = await call(asker, 'GET', `/apis/asterism.dev/v1alpha1/clusterregistrations/${name}`);
    const { status } = parseJson(read.body) as ClusterRegistration;
    const told = ['clusterName', 'conditions', 'decidedBy', 'decision', 'message', 'namespace', 'observedGeneration'];
    assert.deepEqual(Object.keys(status ?? {}).sort(), [...told, 'publicKeyHash', 'requestedBy']);
  });

  test('4, whoever holds a token is let in, and is given what a known id has: here neither', async () => {
    const stranger = await ask(asker, { clusterId: 'id-of-a-stranger', clusterName: 'edge-3' });
    assert.equal(reasonOf(stranger), 'AwaitingApproval');
    assert.equal(await certificateOf(stranger), undefined);
    const { spec, metadata } = await admin.resource(CLUSTERS).get({ name: 'edge-1' });
    const known = { clusterId: spec.id, clusterName: 'edge-1' };
    for (const client of [asker, tokenClient(promised)]) {
      const second = await ask(client, known);
      assert.equal(reasonOf(second), 'KeyDiffers');
      assert.equal(await certificateOf(second), undefined);
      assert.equal(second.status?.decision, undefined);
    }
    const now = await admin.resource(CLUSTERS).get({ name: 'edge-1' });
    assert.deepEqual([now.spec, now.metadata.uid], [spec, metadata.uid], 'nothing of it has changed');
    // Whoever holds the first one's key is that cluster, and is let in again without a person.
    const proved = await ask(asker, known, (await kept(pull))('tls.key'));
    assert.deepEqual([reasonOf(proved), proved.status?.decision], ['SameKey', 'Approved']);
  });

  test('5, an agent chooses the labels that attract workloads: here they are an administrator’s', async () => {
    for (const label of ['asterism.dev/cluster', 'policy.asterism.dev/tier']) {
      const refused = await ask(tokenClient(promised), {
        clusterId: 'x',
        clusterName: 'edge-4',
        labels: { [label]: 'a' },
      });
      assert.deepEqual([reasonOf(refused), refused.status?.decision], ['ReservedLabel', 'Denied']);
    }
    const before = await admin.resource(CLUSTERS).get({ name: 'edge-1' });
    const agent = await fleet.agentOf(pull);
    const path = '/apis/asterism.dev/v1alpha1/clusters/edge-1';
    const bait = {
      metadata: { labels: { tier: 'gold' }, annotations: { a: 'b' } },
      spec: { taints: [], syncMode: 'Dual', region: 'x' },
    };
    assert.equal((await call(agent, 'PATCH', path, { body: bait })).status, 403);
    assert.equal((await call(agent, 'PATCH', `${path}/status`, { body: bait })).status, 200);
    // Nor by asking again, with its key and a token that promises approval.
    const claim = { clusterId: before.spec.id, clusterName: 'edge-1', labels: { tier: 'gold' }, region: 'x' };
    const again = await ask(tokenClient(promised), claim, (await kept(pull))('tls.key'));
    assert.equal(again.status?.decision, 'Approved');
    const now = await admin.resource(CLUSTERS).get({ name: 'edge-1' });
    assert.deepEqual(
      [now.metadata.labels, now.metadata.annotations, now.spec],
      [before.metadata.labels, before.metadata.annotations, before.spec],
    );
  });

  test('6, the hub dials where an agent says: here where the approved object says, found by its name', async () => {
    const before = await admin.resource(CLUSTERS).get({ name: 'edge-2' });
    const rogue = {
      clusterId: before.spec.id,
      clusterName: 'edge-2',
      syncMode: 'Push' as const,
      apiEndpoint: 'https://rogue:6443',
    };
    const again = await ask(asker, rogue, (await kept(push))('tls.key'));
    assert.equal(reasonOf(again), 'SameKey');
    const status = { apiserverURL: 'https://rogue:6443', connection: { apiEndpoint: 'https://rogue:6443' } };
    const body = { status, spec: { connection: { type: 'Direct', apiEndpoint: 'https://rogue:6443' } } };
    const path = '/apis/asterism.dev/v1alpha1/clusters/edge-2/status';
    assert.equal((await call(await fleet.agentOf(push), 'PATCH', path, { body })).status, 200);
    const now = await admin.resource(CLUSTERS).get({ name: 'edge-2' });
    assert.deepEqual(now.spec, before.spec);
    assert.ok(!JSON.stringify(now.status).includes('rogue'));
    // Of two that would be one there is but the first.
    const namesake = await ask(tokenClient(promised), { clusterId: 'another', clusterName: 'edge-2' });
    assert.equal(reasonOf(namesake), 'NameTaken');
    assert.match(namesake.status?.message ?? '', /aster leave edge-2/);
    const twin = await ask(tokenClient(promised), { clusterId: before.spec.id, clusterName: 'edge-5' });
    assert.equal(reasonOf(twin), 'AlreadyJoined');
  });

  test('10, tokens that never end, and an administrator’s of each member: here all end, and Pull gives none', async () => {
    const certificate = new X509Certificate((await kept(pull))('tls.crt'));
    assert.ok(certificate.validToDate.getTime() - Date.now() <= 90 * 86_400_000);
    const pulled = await admin.resource(SECRETS).list({ namespace: clusterNamespace('edge-1') });
    assert.deepEqual(pulled.items, []);
    const pushed = await admin.resource(SECRETS).get({ namespace: clusterNamespace('edge-2'), name: 'hub-credential' });
    const token = Buffer.from(pushed.data?.['token'] ?? '', 'base64').toString();
    const claims = parseJson(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
      exp: number;
      sub: string;
    };
    assert.ok(claims.exp * 1000 - Date.now() <= 3_600_000, 'an hour, then the next');
    assert.equal(claims.sub, `system:serviceaccount:${SYSTEM_NAMESPACE}:${HUB_SERVICE_ACCOUNT}`);
  });

  test('11, hub and deployer are cluster-admin in the member: here the profile workloads makes neither one', async () => {
    const permissions = { profile: 'workloads' as const, namespaces: ['default'] };
    for (const syncMode of ['Pull', 'Push', 'Dual'] as const) {
      for (const object of memberManifests({ syncMode, permissions })) {
        const { roleRef, rules = [] } = object as unknown as { roleRef?: { name: string } } & Pick<
          ClusterRole,
          'rules'
        >;
        assert.notEqual(roleRef?.name, 'cluster-admin');
        for (const { verbs } of rules ?? []) {
          for (const verb of ['*', 'bind', 'escalate', 'approve', 'sign', 'impersonate']) {
            assert.ok(!verbs.includes(verb), `${syncMode}: ${verb}`);
          }
        }
      }
    }
    const hub = {
      username: `system:serviceaccount:${SYSTEM_NAMESPACE}:${HUB_SERVICE_ACCOUNT}`,
      groups: ['system:authenticated'],
    };
    await using confined = await startTestServer();
    for (const object of memberManifests({ syncMode: 'Push', permissions })) {
      if (object.metadata?.name === 'default') continue;
      await apply(confined.client, [object]);
    }
    for (const [member, user] of [
      [confined, AGENT],
      [confined, hub],
      [push, AGENT],
    ] as const) {
      const rbac = 'rbac.authorization.k8s.io';
      const binding = member
        .clientAs(user)
        .resource(CLUSTER_ROLE_BINDINGS)
        .create({
          metadata: { name: 'more' },
          roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' },
          subjects: [{ apiGroup: rbac, kind: 'User', name: user.username }],
        });
      await assert.rejects(binding, (error) => isStatusError(error, 'Forbidden'), user.username);
    }
  });

  test('none of it stands open to a token of Clusternet, which lets its cluster ask all the same', async () => {
    const entries = {
      description: 'The bootstrap token used by clusternet cluster registration.',
      'token-id': '07401b',
      'token-secret': 'f395accd246ae52d',
      expiration: '2099-05-10T03:22:11Z',
      'usage-bootstrap-authentication': 'true',
      'usage-bootstrap-signing': 'true',
      'auth-extra-groups': 'system:bootstrappers:clusternet:register-cluster-token',
    };
    await admin.resource(SECRETS).create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'bootstrap-token-07401b', namespace: 'kube-system' },
      type: 'bootstrap.kubernetes.io/token',
      stringData: entries,
    });
    const member = await fleet.startMember();
    const agent = fleet.join(member, { clusterName: 'edge-6', token: '07401b.f395accd246ae52d' });
    const signal = AbortSignal.timeout(5_000);
    for await (const event of admin.resource(CLUSTER_REGISTRATIONS).watch({ signal })) {
      if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue;
      if (event.object.spec.clusterName !== 'edge-6' || reasonOf(event.object) !== 'AwaitingApproval') continue;
      const { name = '' } = event.object.metadata;
      const body = { status: { decision: 'Approved', decidedBy: 'ann' } };
      await admin.resource(CLUSTER_REGISTRATIONS).patch({ name }, { type: 'merge', body }, { subresource: 'status' });
      break;
    }
    await agent.ready;
  });
});

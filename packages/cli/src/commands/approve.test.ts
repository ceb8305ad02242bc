import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Client, createClient, createTransport, type HttpTransport } from '@asterism/client';
import { CLUSTER_REGISTRATIONS, CLUSTERS } from '@asterism/fleet/api';
import {
  createAgentKey,
  newRequestName,
  type RegistrationFacts,
  registrationObjects,
  submitRegistration,
} from '@asterism/fleet/join';
import { createHub, type Hub } from '@asterism/hub';
import { CERTIFICATE_SIGNING_REQUESTS, findCondition } from '@asterism/machinery';
import { silentLogger, watchResource } from '@asterism/runtime';
import { CommandError, describeError, EXIT } from '../exit-code.ts';
import { fakeTerminal } from '../testing/fake-hub.ts';
import { type ApproveFlags, approve } from './approve.ts';

describe('aster approve', () => {
  let hub: Hub;
  let folder: string;
  let asker: Client;
  let transport: HttpTransport;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'asterism-approve-'));
    hub = createHub({ dataDir: folder, listen: { host: '127.0.0.1', port: 0 }, logger: silentLogger });
    await hub.start();
    const { token } = await hub.createBootstrapToken();
    transport = createTransport({ server: hub.url, caData: hub.ca, credential: { kind: 'token', token } });
    asker = createClient({ transport });
  });
  after(async () => {
    await transport.close();
    await hub.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Resolves with the name of the registration, when the hub has said what it waits for. */
  async function ask(
    clusterName: string,
    clusterId = `id-of-${clusterName}`,
    name = newRequestName(clusterName),
    facts: RegistrationFacts = {},
  ): Promise<string> {
    const claim = { clusterId, clusterName, syncMode: 'Pull' as const, ...facts };
    await submitRegistration(asker, registrationObjects(claim, createAgentKey(), name));
    await reason(name, (found) => found !== undefined);
    return name;
  }

  async function reason(name: string, wanted: (reason: string | undefined) => boolean): Promise<void> {
    const registrations = hub.client.resource(CLUSTER_REGISTRATIONS);
    const options = { fieldSelector: `metadata.name=${name}`, signal: AbortSignal.timeout(5_000) };
    for await (const event of watchResource(registrations, options)) {
      if (event.type !== 'InitApply' && event.type !== 'Apply') continue;
      if (wanted(findCondition(event.object.status?.conditions, 'Complete')?.reason)) return;
    }
  }

  async function run(name: string, flags: ApproveFlags = {}) {
    const terminal = fakeTerminal();
    const code = await approve(name, { kubeconfig: hub.kubeconfigPath, ...flags }, terminal).catch((error: unknown) => {
      terminal.err(describeError(error));
      return error instanceof CommandError ? error.exitCode : EXIT.error;
    });
    return { code, stdout: terminal.stdout, stderr: terminal.stderr };
  }

  const statusOf = async (name: string) => (await hub.client.resource(CLUSTER_REGISTRATIONS).get({ name })).status;

  test('lets the cluster of that name in, and says who did', async () => {
    const name = await ask('edge-1');
    assert.deepEqual(await run('edge-1'), { code: EXIT.fine, stdout: 'edge-1 approved\n', stderr: '' });
    assert.equal((await hub.client.resource(CLUSTERS).get({ name: 'edge-1' })).spec.id, 'id-of-edge-1');
    assert.equal((await statusOf(name))?.decidedBy, 'admin');
  });

  const WISHES = { labels: { tier: 'production', team: 'blue' }, region: 'eu', zones: ['a'] };
  const asks = async (clusterName: string) =>
    await ask(clusterName, `id-of-${clusterName}`, newRequestName(clusterName), WISHES);
  const factsOf = async (name: string) => {
    const { metadata, spec } = await hub.client.resource(CLUSTERS).get({ name });
    return [metadata.labels, spec.provider, spec.region, spec.zones];
  };

  test('shows what the cluster asks for, and gives none of it unasked', async () => {
    const name = await asks('wish-1');
    assert.match(
      (await statusOf(name))?.message ?? '',
      /it asks for label tier=production, label team=blue, region eu/,
    );
    const { code, stderr } = await run('wish-1');
    assert.equal(code, EXIT.fine);
    assert.match(stderr, /wish-1 asks for label tier=production, label team=blue, region eu, zone a/);
    assert.match(stderr, /not accepted: .*--accept-labels/);
    assert.match(stderr, /wish-1 did not get label tier=production/);
    assert.deepEqual(await factsOf('wish-1'), [undefined, undefined, undefined, undefined]);
    assert.deepEqual((await statusOf(name))?.refused, WISHES);
  });

  test('gives all of it with --accept-labels', async () => {
    const name = await asks('wish-2');
    const { stderr } = await run('wish-2', { acceptLabels: true });
    assert.match(stderr, /accepted$/m);
    assert.deepEqual(await factsOf('wish-2'), [WISHES.labels, undefined, 'eu', ['a']]);
    assert.equal((await statusOf(name))?.refused, undefined);
  });

  test('gives what the administrator says', async () => {
    const name = await asks('wish-3');
    await run('wish-3', { label: ['tier=edge'], region: 'us', provider: 'own' });
    assert.deepEqual(await factsOf('wish-3'), [{ tier: 'edge' }, 'own', 'us', undefined]);
    assert.deepEqual((await statusOf(name))?.refused, { labels: WISHES.labels, region: 'eu', zones: ['a'] });
  });

  const wrong: [name: string, flags: ApproveFlags, message: RegExp][] = [
    ['labels with --deny', { deny: true, acceptLabels: true }, /--deny/],
    ['a label that is none', { label: ['a b=c'] }, /--label: "a b=c" is not a label/],
    ['a label of the hub', { label: ['asterism.dev/x=y'] }, /reserved/],
    ['a label twice', { label: ['a=b', 'a=c'] }, /"a" is given twice/],
  ];
  for (const [name, flags, message] of wrong) {
    test(`${name} is wrong usage`, async () => {
      const { code, stderr } = await run('edge-1', flags);
      assert.equal(code, EXIT.usage);
      assert.match(stderr, message);
    });
  }

  test('once more is fine, and says that it was before', async () => {
    const { code, stderr } = await run('edge-1');
    assert.equal(code, EXIT.fine);
    assert.match(stderr, /was approved before, by admin/);
  });

  test('takes the name of a registration too', async () => {
    const name = await ask('edge-2');
    assert.equal((await run(name)).stdout, 'edge-2 approved\n');
  });

  test('sends away, with the reason', async () => {
    const name = await ask('edge-3');
    assert.equal((await run('edge-3', { deny: true, reason: 'not ours' })).stdout, 'edge-3 denied\n');
    const status = await statusOf(name);
    assert.deepEqual([status?.decision, status?.decidedBy, status?.message], ['Denied', 'admin', 'not ours']);
    const { code, stderr } = await run('edge-3');
    assert.equal(code, EXIT.error);
    assert.match(stderr, /was denied by admin \(not ours\).*kubectl delete clusterregistration edge-3-/);
  });

  test('of several that ask for a name lets none in before it knows which', async () => {
    const first = await ask('edge-4', 'id-1');
    const second = await ask('edge-4', 'id-2');
    const { code, stderr } = await run('edge-4');
    assert.equal(code, EXIT.error);
    assert.match(stderr, /2 registrations ask for the name edge-4/);
    for (const name of [first, second]) {
      assert.match(stderr, new RegExp(`${name}: cluster id id-., key sha256:[0-9a-f]{64}, asked by system:bootstrap:`));
    }
    assert.equal((await run(first)).code, EXIT.fine);
    const beaten = await run(second);
    assert.equal(beaten.code, EXIT.error);
    assert.match(
      beaten.stderr,
      /edge-4 cannot join, whoever approves: another cluster \(id id-1\) is joined as "edge-4"/,
    );
  });

  test('a known cluster with another key is let in by the name of its registration alone', async () => {
    await ask('edge-7');
    assert.equal((await run('edge-7')).code, EXIT.fine);
    const { spec: before } = await hub.client.resource(CLUSTERS).get({ name: 'edge-7' });
    const claim = await ask('edge-7');
    const key = (await statusOf(claim))?.publicKeyHash;
    assert.notEqual(key, before.publicKeyHash);
    const { code, stderr } = await run('edge-7');
    assert.equal(code, EXIT.error);
    assert.match(
      stderr,
      /claims the cluster edge-7, which has joined with another key\. If you approve it, the present agent is cut off/,
    );
    assert.match(stderr, new RegExp(`edge-7: cluster id id-of-edge-7, key ${before.publicKeyHash}$`, 'm'));
    assert.match(stderr, new RegExp(`${claim}: cluster id id-of-edge-7, key ${key}, asked by system:bootstrap:`));
    assert.match(stderr, new RegExp(`^  aster approve ${claim}$`, 'm'));
    assert.match(stderr, new RegExp(`^  aster approve ${claim} --deny$`, 'm'));
    assert.equal((await statusOf(claim))?.decision, undefined);
    assert.deepEqual((await hub.client.resource(CLUSTERS).get({ name: 'edge-7' })).spec, before);
    assert.equal((await run(claim)).stdout, 'edge-7 approved\n');
    assert.equal((await hub.client.resource(CLUSTERS).get({ name: 'edge-7' })).spec.publicKeyHash, key);
  });

  for (const name of ['edge-7', 'edge-8']) {
    test(`nor by a registration that its claimant named as a cluster, ${name}; but it is sent away by that name`, async () => {
      await ask('edge-7', 'id-of-edge-7', name);
      const { code, stderr } = await run(name);
      assert.equal(code, EXIT.error);
      assert.match(
        stderr,
        /claims the cluster edge-7, .*No agent gives its registration such a name: do not approve it\./s,
      );
      assert.match(stderr, new RegExp(`^  aster approve ${name} --deny$`, 'm'));
      assert.equal((await run(name, { deny: true })).stdout, 'edge-7 denied\n');
    });
  }

  test('passes over a registration whose certificate request is gone', async () => {
    const old = await ask('edge-5');
    await hub.client.resource(CERTIFICATE_SIGNING_REQUESTS).delete({ name: old });
    await reason(old, (found) => found === 'RequestMissing');
    const { code, stderr } = await run('edge-5', { timeout: '1s' });
    assert.equal(code, EXIT.timeout);
    assert.match(stderr, /there is no CertificateSigningRequest/);
    await ask('edge-5');
    assert.equal((await run('edge-5')).code, EXIT.fine);
  });

  test('a name that nobody asks for', async () => {
    await ask('edge-6');
    const { code, stderr } = await run('edge-66');
    assert.equal(code, EXIT.error);
    assert.match(stderr, /none for a cluster "edge-66": who asks: edge-6/);
  });

  test('a reason without a denial is wrong usage', async () => {
    assert.equal((await run('edge-6', { reason: 'x' })).code, EXIT.usage);
  });
});

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join as path } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { type Clock, systemClock } from '@asterism/client';
import { certificatePin, registerAccess } from '@asterism/fleet/join';
import { customResourceDefinitions, REGISTER_GROUP, SYSTEM_NAMESPACE } from '@asterism/fleet/api';
import { DEPLOYMENTS, type KubeObject, NAMESPACES } from '@asterism/machinery';
import { parseAllDocuments } from 'yaml';
import { CommandError, EXIT } from '../exit-code.ts';
import { fakeTerminal } from '../testing/fake-hub.ts';
import { join } from './join.ts';
import type { JoinFlags } from './join-options.ts';

const PIN = `sha256:${'0a'.repeat(32)}`;
const TOKEN = '123456.0123456789012345';

function documentsOf(text: string): unknown[] {
  return parseAllDocuments(text).map((document) => document.toJS() as unknown);
}

describe('aster join --manifest', () => {
  const values: Record<string, string> = {
    CLUSTER: 'edge-1',
    HUB: 'https://hub:7443',
    CA_HASH: PIN,
    TOKEN,
    IMAGE: 'registry.example/agent:1',
    ENDPOINT: 'https://edge:6443',
  };
  const flags: JoinFlags = {
    manifest: true,
    name: 'edge-1',
    hub: 'https://hub:7443',
    caHash: PIN,
    token: TOKEN,
    image: 'registry.example/agent:1',
  };

  for (const [mode, further] of [
    ['Pull', {}],
    ['Push', { endpoint: 'https://edge:6443' }],
  ] as const) {
    test(`prints what deploy/agent/${mode.toLowerCase()}.yaml says with its names replaced`, async () => {
      const terminal = fakeTerminal();
      assert.equal(await join({ ...flags, ...further, mode }, terminal), EXIT.fine);
      const file = new URL(`../../../../deploy/agent/${mode.toLowerCase()}.yaml`, import.meta.url);
      const text = await readFile(file, 'utf8');
      const [, checksum = ''] = /secrets-checksum: "?(\w{64})/.exec(terminal.stdout) ?? [];
      const filling: Record<string, string> = { ...values, CHECKSUM: checksum };
      const filled = text.replaceAll(/\$\{([A-Z_]+)\}/g, (_, name: string) => filling[name] ?? assert.fail(name));
      assert.deepEqual(documentsOf(terminal.stdout), documentsOf(filled));
    });
  }

  test('of facts, a cap, destinations, a proxy, a CA that is no pin', async () => {
    const terminal = fakeTerminal();
    await using hub = await startTestServer();
    const folder = await mkdtemp(path(tmpdir(), 'aster-join-'));
    const { writeFile } = await import('node:fs/promises');
    await writeFile(path(folder, 'ca.crt'), hub.ca.cert);
    const { caHash: _, ...rest } = flags;
    const given = { hubCa: path(folder, 'ca.crt'), region: 'eu', zones: 'a,b', labels: 'tier=edge,x=' };
    const elsewhere = {
      allowDestination: ['https://Registry.corp', 'http://10.0.0.7:8080'],
      destinationCa: path(folder, 'ca.crt'),
    };
    await join(
      { ...rest, ...given, ...elsewhere, reach: 'readonly', proxy: 'http://proxy:3128', hostNetwork: true },
      terminal,
    );
    await rm(folder, { recursive: true });
    const objects = documentsOf(terminal.stdout) as KubeObject[];
    const secret = objects.find(({ kind }) => kind === 'Secret') as { stringData?: object };
    assert.deepEqual(secret.stringData, { token: TOKEN, 'ca.crt': hub.ca.cert, 'destination-ca.crt': hub.ca.cert });
    const text = JSON.stringify(objects.at(-1));
    for (const part of [
      '--hub-ca=/var/run/asterism/ca.crt',
      '"--reach=readonly"',
      '"--allow-destination=https://registry.corp:443","--allow-destination=http://10.0.0.7:8080"',
      '--destination-ca=/var/run/asterism/destination-ca.crt',
      '--region=eu',
      '--zones=a,b',
      '--labels=tier=edge,x=',
      '"name":"HTTPS_PROXY","value":"http://proxy:3128"',
      '"hostNetwork":true',
    ]) {
      assert.ok(text.includes(part), part);
    }
    assert.ok(!text.includes(TOKEN), 'the token is in the Secret alone');
  });

  test('of a proxy with a password, in a Secret and nowhere else', async () => {
    const terminal = fakeTerminal();
    const proxy = 'http://edge:s3cret@proxy:3128';
    await join({ ...flags, proxy }, terminal);
    const objects = documentsOf(terminal.stdout) as KubeObject[];
    const holders = objects.filter((object) => JSON.stringify(object).includes('s3cret'));
    assert.deepEqual(
      holders.map(({ kind, metadata }) => `${kind}/${metadata?.name}`),
      ['Secret/agent-proxy'],
    );
    assert.ok(
      JSON.stringify(objects.at(-1)).includes(
        '"name":"HTTPS_PROXY","valueFrom":{"secretKeyRef":{"name":"agent-proxy","key":"HTTPS_PROXY"}}',
      ),
    );
  });

  test('takes no part without a token', async () => {
    const { token: _, ...rest } = flags;
    await assert.rejects(join(rest, fakeTerminal()), /^CommandError: which token\? /);
  });
});

describe('aster join', () => {
  let hub: TestServer;
  let member: TestServer;
  let folder: string;
  let flags: JoinFlags;

  before(async () => {
    hub = await startTestServer({ crds: await customResourceDefinitions() });
    member = await startTestServer();
    folder = await mkdtemp(path(tmpdir(), 'aster-join-'));
    for (const object of registerAccess()) {
      await hub.client.resource(await hub.client.discovery.typeFor(object)).create(object);
    }
    flags = {
      name: 'edge-1',
      hub: hub.url,
      caHash: certificatePin(hub.ca.cert),
      token: hub.tokenFor({ username: 'system:bootstrap:abcdef', groups: [REGISTER_GROUP, 'system:authenticated'] }),
      kubeconfig: await member.kubeconfig(path(folder, 'member')),
      hostNetwork: true,
    };
  });
  after(async () => {
    await hub[Symbol.asyncDispose]();
    await member[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  const namespace = () => member.client.resource(NAMESPACES).get({ name: SYSTEM_NAMESPACE });

  test('changes nothing where something is at fault', async () => {
    const terminal = fakeTerminal();
    await assert.rejects(
      join({ ...flags, token: 'abcdef.0123456789abcdef' }, terminal),
      /^CommandError: nothing was changed: put right what is at fault/,
    );
    assert.match(terminal.stderr, /^FAULT token: the hub .* -> ask an administrator/m);
    await assert.rejects(namespace(), /not found/);
  });

  test('says with --dry-run what it would do, and changes nothing', async () => {
    const terminal = fakeTerminal();
    assert.equal(await join({ ...flags, dryRun: true }, terminal), EXIT.fine);
    assert.match(terminal.stdout, /^would apply Namespace asterism-system\n/);
    assert.match(terminal.stdout, /^would apply Deployment asterism-system\/asterism-agent\n/m);
    await assert.rejects(namespace(), /not found/);
  });

  test('says what it hangs on, and ends when the time is over or the agent is ready', async () => {
    let now = Date.now();
    const hurried: Clock = {
      wall: () => new Date(now),
      monotonic: () => now,
      setTimer: (callback, ms) => {
        now += ms;
        setImmediate(callback);
        return () => {};
      },
    };
    const waiting = fakeTerminal();
    await assert.rejects(
      join({ ...flags, timeout: '3s' }, waiting, hurried),
      (error) => error instanceof CommandError && error.exitCode === EXIT.timeout,
    );
    assert.equal(waiting.stderr.match(/^waiting: no pod was made for the agent yet$/gm)?.length, 1);
    const status = { observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
    await member.client
      .resource(DEPLOYMENTS)
      .patch(
        { namespace: SYSTEM_NAMESPACE, name: 'asterism-agent' },
        { type: 'merge', body: { status } },
        { subresource: 'status' },
      );
    const joined = fakeTerminal();
    assert.equal(await join(flags, joined, systemClock), EXIT.fine);
    assert.equal(joined.stdout, `edge-1 has joined ${hub.url}\n`);
  });

  test('run again, makes the pod anew where a Secret that it has read is another one, and else leaves it', async () => {
    const generation = async (further: JoinFlags = {}): Promise<number | undefined> => {
      await join({ ...flags, ...further, wait: false }, fakeTerminal());
      const found = await member.client
        .resource(DEPLOYMENTS)
        .get({ namespace: SYSTEM_NAMESPACE, name: 'asterism-agent' });
      return found.metadata?.generation;
    };
    const first = (await generation()) ?? assert.fail();
    assert.equal(await generation(), first);
    const token = hub.tokenFor({
      username: 'system:bootstrap:uvwxyz',
      groups: [REGISTER_GROUP, 'system:authenticated'],
    });
    assert.equal(await generation({ token }), first + 1);
    assert.equal(await generation({ token }), first + 1);
  });
});

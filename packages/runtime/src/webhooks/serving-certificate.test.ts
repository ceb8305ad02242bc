import assert from 'node:assert/strict';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startTestServer } from '@asterism/apiserver/testing';
import { AUTHORITY, ALICE_CERT, ALICE_KEY, SERVER_CERT, ManualClock } from '@asterism/client/testing';
import { LEASES } from '@asterism/machinery';
import { silentLogger } from '../log/logger.ts';
import { createManager, type Manager } from '../lifecycle/manager.ts';
import { FakeApi } from '../testing/fake-api.ts';
import { admissionReview } from './testing/admission-review.ts';
import { FIRST_PAIR, SECOND_PAIR } from './testing/serving-pairs.ts';
import { type Answered, sendTo, ServingFolder, WebhookTrial } from './testing/webhook-trial.ts';
import { createValidatingWebhook } from './validating-webhook.ts';
import { createWebhookServer } from './webhook-server.ts';

const RENEWED = /^info the webhook server has a new certificate/;
const REFUSED = /^warn the new certificate of the webhook server cannot be used/;
const webhooks = [createValidatingWebhook({ path: '/allow', validate: () => undefined })];
const review = admissionReview();

/** Resolves when a new connection is shown the certificate of that name. */
async function shown(url: string, commonName: string): Promise<Answered> {
  for (;;) {
    const answer = await sendTo(url, '/allow', { body: JSON.stringify(review) });
    if (answer.commonName === commonName) return answer;
  }
}

describe('a certificate that is renewed', () => {
  test('is shown to new connections, and those that are open stay', async () => {
    await using trial = await WebhookTrial.start({ webhooks });
    const before = await trial.post('/allow', review, { agent: trial.kept });
    assert.equal(before.commonName, 'webhooks-a');
    await trial.folder.put(SECOND_PAIR);
    await shown(trial.server.url ?? '', 'webhooks-b');
    const after = await trial.post('/allow', review, { agent: trial.kept });
    assert.equal(after.socket, before.socket);
    assert.equal(after.status, 200);
    assert.match(await trial.log.line(RENEWED), /"notAfter":"2126-/);
  });

  test('that is half there, or nonsense, replaces nothing, and is told of once', async () => {
    await using trial = await WebhookTrial.start({ webhooks });
    const { url = '' } = trial.server;
    for (const [cert, message] of [
      [SECOND_PAIR.cert, 'cannot be used together'],
      ['nonsense', 'no certificate in PEM'],
    ] as const) {
      const from = trial.log.lines.length;
      await trial.folder.put({ cert });
      const line = await trial.log.line(REFUSED, from);
      assert.ok(line.includes(message), line);
      assert.ok(!line.includes('PRIVATE'));
      assert.equal((await sendTo(url, '/allow', { body: JSON.stringify(review) })).commonName, 'webhooks-a');
    }
    const told = trial.log.lines.filter((line) => REFUSED.test(line)).length;
    await trial.folder.write('other', 'a change beside them');
    await trial.folder.put(SECOND_PAIR);
    await shown(url, 'webhooks-b');
    assert.ok(told <= 3 && told >= 2, `${told} times`);
  });

  test('through the links of a volume of the kubelet', async () => {
    await using folder = await ServingFolder.create();
    const volume = join(folder.path, 'volume');
    const put = async (name: string, { cert, key }: typeof FIRST_PAIR): Promise<void> => {
      await mkdir(join(volume, name), { recursive: true });
      await writeFile(join(volume, name, 'tls.crt'), cert);
      await writeFile(join(volume, name, 'tls.key'), key);
      await symlink(name, join(volume, '..tmp'));
      await rename(join(volume, '..tmp'), join(volume, '..data'));
    };
    await put('..1', FIRST_PAIR);
    for (const name of ['tls.crt', 'tls.key']) await symlink(`..data/${name}`, join(volume, name));
    const files = { certFile: join(volume, 'tls.crt'), keyFile: join(volume, 'tls.key') };
    await using trial = await WebhookTrial.start({ webhooks, ...files });
    await put('..2', SECOND_PAIR);
    await rm(join(volume, '..1'), { recursive: true });
    await shown(trial.server.url ?? '', 'webhooks-b');
  });

  test('in a standby too', async () => {
    await using api = await startTestServer({ controllers: false });
    await using folder = await ServingFolder.create();
    const renewTime = `${new Date().toISOString().slice(0, -1)}000Z`;
    const spec = { holderIdentity: 'other', leaseDurationSeconds: 15, renewTime };
    await api.client.resource(LEASES).create({ metadata: { name: 'leader', namespace: 'default' }, spec });
    const server = createWebhookServer({ ...folder.files, port: 0, host: '127.0.0.1', webhooks });
    const leaderElection = { namespace: 'default', name: 'leader', identity: 'me' };
    const manager = createManager({ client: api.client, logger: silentLogger, leaderElection, servers: [server] });
    let leads = false;
    manager.leading.then(
      () => (leads = true),
      () => {},
    );
    const abort = new AbortController();
    const stopped = manager.start(abort.signal);
    await manager.ready();
    const { url = '' } = server;
    await shown(url, 'webhooks-a');
    await folder.put(SECOND_PAIR);
    await shown(url, 'webhooks-b');
    assert.ok(!leads);
    abort.abort();
    await stopped;
    await assert.rejects(sendTo(url, '/allow'), { code: 'ECONNREFUSED' });
  });
});

describe('what cannot be served', () => {
  const CASES: [what: string, pair: Partial<typeof FIRST_PAIR>, message: RegExp][] = [
    ['a key of another certificate', { key: SECOND_PAIR.key }, /tls.crt and .*tls.key cannot be used together/],
    ['no certificate', { cert: 'nonsense' }, /tls.crt is no certificate in PEM/],
    ['no key', { key: 'nonsense' }, /tls.crt and .*tls.key cannot be used together/],
  ];
  for (const [what, pair, message] of CASES) {
    test(`${what} is found out at the start`, async () => {
      await using folder = await ServingFolder.create();
      await folder.put(pair);
      const server = createWebhookServer({ ...folder.files, port: 0, host: '127.0.0.1', webhooks });
      await assert.rejects(server.start(undefined as unknown as Manager, silentLogger), message);
      assert.equal(server.url, undefined);
    });
  }

  test('a file that is not there ends the manager, which names it', async () => {
    await using api = await FakeApi.start();
    const server = createWebhookServer({ certFile: '/nowhere/tls.crt', keyFile: '/nowhere/tls.key', webhooks });
    const manager = createManager({ client: api.client(), logger: silentLogger, servers: [server] });
    const message = /webhook server failed to start: \/nowhere\/tls.crt cannot be read: ENOENT/;
    await assert.rejects(manager.start(new AbortController().signal), message);
  });
});

test('readiness: whether it listens, and its certificate has not ended', async () => {
  const clock = new ManualClock();
  const trial = await WebhookTrial.start({ webhooks, clock });
  const ask = (): unknown => trial.server.check.check(new AbortController().signal);
  assert.equal(ask(), undefined);
  clock.advance(Date.parse('2127-01-01') - clock.wall().getTime());
  assert.match(String(ask()), /^the certificate ended at 2126-/);
  await trial[Symbol.asyncDispose]();
  assert.equal(ask(), 'the webhook server does not listen');
});

test('where callers are to prove who they are, nobody else is let in, by the authority of now', async () => {
  await using folder = await ServingFolder.create();
  await folder.write('ca.crt', AUTHORITY);
  const clientCaFile = join(folder.path, 'ca.crt');
  await using trial = await WebhookTrial.start({ webhooks, clientCaFile });
  const proof = { cert: ALICE_CERT, key: ALICE_KEY };
  assert.equal((await trial.post('/allow', review, proof)).status, 200);
  await assert.rejects(trial.post('/allow', review));
  await folder.write('ca.crt', SERVER_CERT);
  await trial.log.line(RENEWED);
  await assert.rejects(trial.post('/allow', review, proof));
  assert.deepEqual(
    trial.log.lines.filter((line) => line.startsWith('error')),
    [],
  );
});

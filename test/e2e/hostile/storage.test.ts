import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Client, type Connection, createClient, createTransport, readBody } from '@asterism/client';
import { CLUSTER_REGISTRATIONS } from '@asterism/fleet/api';
import { createBootstrapToken } from '@asterism/fleet/join';
import { CERTIFICATE_SIGNING_REQUESTS, CONFIG_MAPS, isStatusError, LEASES } from '@asterism/machinery';
import { connectionOf } from '../../cluster/connection-of.ts';
import { asterService, runAster } from '../../cluster/aster.ts';
import { Daemon } from '../../cluster/daemon.ts';
import { EmbeddedHub } from '../../cluster/embedded-hub.ts';
import { freePort } from '../../cluster/free-port.ts';
import { RunFolder } from '../../cluster/run-folder.ts';
import { seededRandom } from '../../soak/seeded-random.ts';

async function connect(parts: AsyncDisposableStack, kubeconfig: string): Promise<{ client: Client; to: Connection }> {
  const to = await connectionOf(kubeconfig);
  return { client: createClient({ transport: parts.use(createTransport(to)), userAgent: 'test' }), to };
}

async function ask(client: Client, path: string): Promise<{ status: number; text: string }> {
  const { status, body } = await client.request({ method: 'GET', path });
  return { status, text: (await readBody(body, 'the hub')).toString() };
}

const map = (name: string, text = name) => ({ metadata: { name, namespace: 'default' }, data: { text } });

describe('a token that nobody has approved', () => {
  const parts = new AsyncDisposableStack();
  let admin: Client;
  let token: Client;
  let dataDir: string;

  before(async () => {
    const hub = parts.use(await EmbeddedHub.start(parts.use(await RunFolder.open())));
    const { client, to } = await connect(parts, hub.kubeconfig);
    dataDir = join(hub.kubeconfig, '..');
    admin = client;
    const { token: text } = await createBootstrapToken(admin);
    const credential = { kind: 'token' as const, token: text };
    token = createClient({ transport: parts.use(createTransport({ ...to, credential })), userAgent: 'test' });
  });
  after(() => parts.disposeAsync());

  const size = async (): Promise<number> =>
    (await readFile(join(dataDir, 'hub.db'))).length + (await readFile(join(dataDir, 'hub.db-wal'))).length;

  async function flood(create: (at: number) => Promise<unknown>): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    await Promise.all(
      Array.from({ length: 300 }, async (_, at) => {
        const outcome = await create(at).then(
          () => 'created',
          (error: unknown) => (isStatusError(error) ? String(error.code) : String(error)),
        );
        counts[outcome] = (counts[outcome] ?? 0) + 1;
      }),
    );
    return counts;
  }

  const csr = (at: number, padding: number) => ({
    metadata: { name: `flood-${padding}-${at}`, annotations: { padding: 'x'.repeat(padding) } },
    spec: { signerName: 'example.com/none', request: REQUEST, usages: ['client auth' as const] },
  });

  test('does not fill the disk with certificate requests', async () => {
    const requests = token.resource(CERTIFICATE_SIGNING_REQUESTS);
    const before = await size();
    assert.deepEqual(await flood((at) => requests.create(csr(at, 200_000))), { 413: 300 });
    const counts = await flood((at) => requests.create(csr(at, 40_000)));
    assert.equal(counts['created'], 200, JSON.stringify(counts));
    assert.equal(counts['429'], 100, JSON.stringify(counts));
    assert.ok((await size()) - before < 40_000_000);
    // An administrator, and another token, notice nothing.
    await admin.resource(CONFIG_MAPS).create(map('still'));
    assert.equal((await ask(admin, '/readyz')).status, 200);
  });

  test('does not fill it with registrations', async () => {
    const spec = { certificateRequest: 'none', clusterId: 'x'.repeat(36), syncMode: 'Pull' as const };
    const create = (at: number, padding: number) =>
      token.resource(CLUSTER_REGISTRATIONS).create({
        apiVersion: 'asterism.dev/v1alpha1',
        kind: 'ClusterRegistration',
        metadata: { name: `flood-${at}-${padding}`, annotations: { padding: 'x'.repeat(padding) } },
        spec: { ...spec, clusterName: `edge-${at}` },
      });
    const large = await flood((at) => create(at, 200_000));
    assert.equal(large['413'], 300, JSON.stringify(large));
    const counts = await flood((at) => create(at, 100));
    assert.ok((counts['created'] ?? 0) <= 200 && (counts['429'] ?? 0) >= 100, JSON.stringify(counts));
  });
});

const REQUEST = Buffer.from(
  `-----BEGIN CERTIFICATE REQUEST-----
MIHJMHECAQAwDzENMAsGA1UEAwwEZWRnZTBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABDxGv8Q3xm0cq4zXPfpJ3Ju9h0i5qXK5Ff0kQn9gWuRrY3e0jDqXHk8dZ3ZL
-----END CERTIFICATE REQUEST-----
`,
).toString('base64');

const ROUNDS = 3;

test(`a hub whose database has flipped bits serves nothing that was not written (${ROUNDS} times)`, async (t) => {
  const random = seededRandom(t);
  await using parts = new AsyncDisposableStack();
  const run = parts.use(await RunFolder.open());
  const hub = parts.use(await EmbeddedHub.start(run));
  const dataDir = join(hub.kubeconfig, '..');
  const { client } = await connect(parts, hub.kubeconfig);
  const maps = client.resource(CONFIG_MAPS);
  await Promise.all(Array.from({ length: 150 }, (_, at) => maps.create(map(`map-${at}`, `${at}`.repeat(800)))));
  const [daemon] = hub.daemons;
  await daemon.stop();
  const file = join(dataDir, 'hub.db');
  const pristine = await readFile(file);
  const log = join(dataDir, '..', 'hub.log');
  for (let round = 0; round < ROUNDS; round++) {
    const bytes = Buffer.from(pristine);
    for (let bits = round % 2 === 0 ? 1 : 6; bits > 0; bits--) {
      const at = Math.floor(random() * bytes.length);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8));
    }
    for (const ending of ['-wal', '-shm']) await rm(file + ending, { force: true });
    await writeFile(file, bytes);
    await truncate(log);
    const started = await hub.startAgain().then(
      () => true,
      () => false,
    );
    if (!started) {
      const said = await readFile(log, 'utf8');
      assert.match(said, /hub\.db (is|has) .*restore/, `round ${round}: ${said}`);
      continue;
    }
    for (let at = 0; at < 150; at++) {
      const { status, text } = await ask(client, `/api/v1/namespaces/default/configmaps/map-${at}`);
      if (status === 500) {
        assert.match(text, new RegExp(`StorageReadError.*map-${at}`, 's'));
        assert.match(await readFile(log, 'utf8'), new RegExp(`map-${at}.{0,80} is damaged and is not served`, 's'));
      } else {
        assert.equal(status, 200, text);
        assert.deepEqual(JSON.parse(text).data, { text: `${at}`.repeat(800) }, `round ${round}`);
      }
    }
    await daemon.stop();
  }
});

const MISSING = ['/usr/bin/unshare', '/usr/bin/nsenter'].filter((path) => !existsSync(path));
const SKIP =
  process.getuid?.() !== 0 ? 'needs root to mount a file system' : MISSING.length > 0 && `${MISSING.join()} is missing`;

test('a hub on a full disk says so, takes deletions and Leases, and starts again', { skip: SKIP }, async () => {
  await using parts = new AsyncDisposableStack();
  const run = parts.use(await RunFolder.open());
  const folder = await run.folder('small');
  const mounted = parts.use(
    new Daemon({
      name: 'a small disk',
      command: [
        'unshare',
        '-m',
        'sh',
        '-c',
        'mount -t tmpfs -o size=12m tmpfs "$0" && echo mounted && exec sleep 600',
        folder,
      ],
      log: join(run.path, 'disk.log'),
    }),
  );
  await mounted.start();
  await mounted.printed(/mounted/, AbortSignal.timeout(10_000));
  const namespace = await mounted.pid();
  const seen = `/proc/${namespace}/root${folder}`;
  const listen = `127.0.0.1:${await freePort()}`;
  const log = join(run.path, 'hub.log');
  const hub = parts.use(
    asterService({
      name: 'aster hub',
      args: ['hub', '--data-dir', join(folder, 'hub'), '--listen', listen],
      log,
      within: (command) => ['nsenter', '-t', String(namespace), '-m', '--', ...command],
    }),
  );
  const start = async (): Promise<void> => {
    await hub.start();
    await hub.printed(/^ready https:/m, AbortSignal.timeout(60_000));
  };
  await start();
  const kubeconfig = join(seen, 'hub', 'kubeconfig');
  const { client } = await connect(parts, kubeconfig);
  const maps = client.resource(CONFIG_MAPS);
  for (let at = 0; at < 5; at++) await maps.create(map(`kept-${at}`, 'x'.repeat(2_000)));
  const leases = client.resource(LEASES);
  const lease = await leases.create({ metadata: { name: 'l', namespace: 'default' }, spec: { holderIdentity: 'a' } });
  await writeFile(join(seen, 'filler'), Buffer.alloc(50_000_000)).catch(() => {});

  await hub.logged(/Until then only deletions and Leases are written/, AbortSignal.timeout(30_000));
  assert.equal((await ask(client, '/readyz/storage')).status, 500);
  const refusal = await maps.create(map('late')).catch((error: unknown) => error);
  assert.ok(isStatusError(refusal) && refusal.code === 503 && refusal.retryAfterSeconds === 1, String(refusal));
  assert.match(refusal.message, /no space left to write .*: free some, then try again/);
  assert.equal((await ask(client, '/livez')).status, 200, 'a restart would not help');
  assert.match((await ask(client, '/metrics')).text, /^apiserver_storage_full 1$/m);
  await leases.update({ ...lease, spec: { holderIdentity: 'b' } });
  await maps.delete({ name: 'kept-0', namespace: 'default' });
  const doctor = await runAster(['doctor', '--kubeconfig', kubeconfig]).catch(
    (error: { stdout: string }) => error.stdout,
  );
  assert.match(
    doctor,
    /hub\/disk: the hub's disk is full \(\d+ KiB are left\): it refuses all writes but deletions and Leases/,
  );
  assert.equal((await readFile(log, 'utf8')).match(/Until then only deletions and Leases are written/g)?.length, 1);

  await hub.kill();
  await start();
  assert.equal(
    (await maps.list({ namespace: 'default' })).items.filter(({ metadata }) => metadata?.name?.startsWith('kept'))
      .length,
    4,
  );
  assert.equal((await leases.get({ name: 'l', namespace: 'default' })).spec?.holderIdentity, 'b');
  await maps.delete({ name: 'kept-1', namespace: 'default' });

  await rm(join(seen, 'filler'));
  await hub.logged(/the disk has space again/, AbortSignal.timeout(30_000));
  assert.equal((await ask(client, '/readyz/storage')).status, 200);
  await maps.create(map('late'));
});

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { connectionFromKubeconfig, loadKubeconfig } from '@asterism/client';
import { CLUSTERS, PROPAGATION_POLICIES } from '@asterism/fleet/api';
import { CLUSTER_ROLES, CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES } from '@asterism/machinery';
import { silentLogger } from '@asterism/runtime';
import { createHub } from './create-hub.ts';
import { HubError, type HubErrorCode } from './hub-error.ts';
import { TestFleet } from './testing/test-fleet.ts';

const listen = { host: '127.0.0.1', port: 0 };

const isHubError = (code: HubErrorCode, says: RegExp) => (error: unknown) => {
  assert.ok(error instanceof HubError, String(error));
  assert.equal(error.code, code, error.message);
  assert.match(error.message, says);
  return true;
};

describe('a hub', () => {
  const root = mkdtemp(join(tmpdir(), 'asterism-hub-'));
  after(async () => rm(await root, { recursive: true, force: true }));
  const directory = async (name: string): Promise<string> => join(await root, name);

  test('writes a kubeconfig with which its administrator may do everything, over the network', async () => {
    await using fleet = await TestFleet.start();
    const kubeconfig = await loadKubeconfig(fleet.hub.kubeconfigPath);
    const connection = await connectionFromKubeconfig(kubeconfig, 'asterism');
    assert.equal(connection.server, fleet.hub.url);
    const admin = fleet.client(connection);
    await admin.resource(NAMESPACES).create({ metadata: { name: 'demo' } });
    await admin
      .resource(CLUSTER_ROLES)
      .create({ metadata: { name: 'x' }, rules: [{ verbs: ['*'], nonResourceURLs: ['*'] }] });
    assert.deepEqual((await admin.resource(CLUSTERS).list()).items, []);
    assert.match(fleet.hub.caPin, /^sha256:[0-9a-f]{64}$/);
  });

  test('takes no policy that can select nothing', async () => {
    await using fleet = await TestFleet.start();
    const created = fleet.hub.client.resource(PROPAGATION_POLICIES).create({
      apiVersion: 'asterism.dev/v1alpha1',
      kind: 'PropagationPolicy',
      metadata: { name: 'elsewhere', namespace: 'default' },
      spec: { resourceSelectors: [{ apiVersion: 'v1', kind: 'Secret', namespace: 'demo' }] },
    });
    await assert.rejects(created, {
      code: 422,
      message: /spec\.resourceSelectors\[0\]\.namespace: Invalid value: "demo"/,
    });
  });

  test('keeps every key and database for its user alone', async () => {
    await using fleet = await TestFleet.start();
    const pki = join(fleet.dataDir, 'pki');
    const files = [...(await readdir(pki)).map((name) => join(pki, name)), fleet.hub.kubeconfigPath];
    files.push(join(fleet.dataDir, 'hub.db'));
    assert.ok(files.some((file) => file.endsWith('ca.key')));
    for (const file of files) assert.equal((await stat(file)).mode & 0o077, 0, file);
    assert.equal((await stat(pki)).mode & 0o077, 0);
  });

  test('started again it is the same hub: objects, uids, authority; nothing is written anew', async () => {
    await using fleet = await TestFleet.start();
    const { ca } = fleet.hub;
    await fleet.hub.client.resource(CONFIG_MAPS).create({ metadata: { name: 'a', namespace: 'default' } });
    const snapshot = async () => [
      (await fleet.hub.client.resource(CONFIG_MAPS).list()).items,
      (await fleet.hub.client.resource(CUSTOM_RESOURCE_DEFINITIONS).list()).items,
      (await fleet.hub.client.resource(CLUSTER_ROLES).list()).items,
    ];
    const before = await snapshot();
    await fleet.hub.stop();
    await fleet.startHub();
    assert.deepEqual(await snapshot(), before);
    assert.equal(fleet.hub.ca, ca);
  });

  test('that was killed leaves nothing that keeps the next from starting', async () => {
    const dataDir = await directory('killed');
    const program = `
      const { createHub } = await import(${JSON.stringify(new URL('./create-hub.ts', import.meta.url).href)});
      const { silentLogger } = await import('@asterism/runtime');
      const hub = createHub({ dataDir: ${JSON.stringify(dataDir)}, listen: ${JSON.stringify(listen)}, logger: silentLogger });
      await hub.start();
      const { uid } = (await hub.client.resource({ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true })
        .create({ metadata: { name: 'a', namespace: 'default' } })).metadata;
      process.stdout.write(uid);`;
    const cwd = new URL('.', import.meta.url);
    const child = spawn(process.execPath, [...process.execArgv, '--input-type=module', '-e', program], {
      cwd,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_TEST_CONTEXT: '' },
    });
    const [uid] = (await once(child.stdout, 'data')) as [Buffer];
    const second = createHub({ dataDir, listen, logger: silentLogger });
    await assert.rejects(second.start(), isHubError('DataDirLocked', new RegExp(`process ${child.pid}.*--data-dir`)));
    child.kill('SIGKILL');
    await once(child, 'exit');
    await using hub = createHub({ dataDir, listen, logger: silentLogger });
    await hub.start();
    const object = await hub.client.resource(CONFIG_MAPS).get({ namespace: 'default', name: 'a' });
    assert.equal(object.metadata?.uid, uid.toString());
  });

  test('that finds its port taken says so, and can be started elsewhere on the same data at once', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const dataDir = await directory('port');
    const hub = createHub({ dataDir, listen: { host: '127.0.0.1', port }, logger: silentLogger });
    await assert.rejects(hub.start(), isHubError('AddressInUse', new RegExp(`127\\.0\\.0\\.1:${port}.*--listen`)));
    taken.close();
    await using other = createHub({ dataDir, listen, logger: silentLogger });
    await other.start();
  });

  test('that has no such address says so', async () => {
    const hub = createHub({
      dataDir: await directory('address'),
      listen: { host: '192.0.2.1', port: 7443 },
      logger: silentLogger,
    });
    await assert.rejects(hub.start(), isHubError('AddressUnusable', /192\.0\.2\.1.*--listen/));
  });

  test('whose database is damaged says which file, and what to do', async () => {
    const dataDir = await directory('corrupt');
    const hub = createHub({ dataDir, listen, logger: silentLogger });
    await hub.start();
    await hub.stop();
    await writeFile(join(dataDir, 'hub.db'), 'not a database, however long it is '.repeat(500));
    const again = createHub({ dataDir, listen, logger: silentLogger });
    await assert.rejects(again.start(), isHubError('DatabaseCorrupt', /hub\.db.*(backup|move it away)/));
  });

  test('whose keys are damaged says where they are', async () => {
    const dataDir = await directory('keys');
    const hub = createHub({ dataDir, listen, logger: silentLogger });
    await hub.start();
    await hub.stop();
    await writeFile(join(dataDir, 'pki', 'ca.crt'), 'nothing');
    const again = createHub({ dataDir, listen, logger: silentLogger });
    await assert.rejects(again.start(), isHubError('KeysUnusable', /pki.*backup/));
  });

  test('whose clock is behind its own authority says so', async (context) => {
    const dataDir = await directory('clock');
    const hub = createHub({ dataDir, listen, logger: silentLogger });
    await hub.start();
    await hub.stop();
    context.mock.timers.enable({ apis: ['Date'], now: Date.now() - 3_600_000 });
    const again = createHub({ dataDir, listen, logger: silentLogger });
    await assert.rejects(again.start(), isHubError('ClockOff', /clock says .* begins only at/));
  });

  test('whose data dir cannot be made says so', async () => {
    const file = await directory('file');
    await writeFile(file, '');
    const hub = createHub({ dataDir: join(file, 'x'), listen, logger: silentLogger });
    await assert.rejects(hub.start(), isHubError('DataDirUnusable', /--data-dir/));
  });

  test('tells no log its keys or tokens', async () => {
    const lines: string[] = [];
    const write = (fields: object, message: string): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
    const logger = { debug: write, info: write, warn: write, error: write, child: () => logger };
    await using fleet = await TestFleet.start({ logger });
    const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
    const member = await fleet.startMember('Push');
    const endpoint = { server: member.url };
    await fleet.join(member, { token, logger, syncMode: 'Push', endpoint }).ready;
    await fleet.reached('edge-1');
    const all = lines.join('\n');
    assert.ok(lines.length > 5, 'something was logged');
    assert.ok(!all.includes(token.split('.')[1]!));
    assert.doesNotMatch(all, /PRIVATE KEY|eyJ[\w-]+\.eyJ/);
    const key = await readFile(join(fleet.dataDir, 'pki', 'ca.key'), 'utf8');
    assert.ok(!all.includes(key.split('\n')[1]!));
  });
});

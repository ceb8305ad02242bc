import assert from 'node:assert/strict';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import { CLUSTERS } from '@asterism/fleet/api';
import { CONFIG_MAPS, isNotFound } from '@asterism/machinery';
import { silentLogger } from '@asterism/runtime';
import { backupDataDir } from './backup-data-dir.ts';
import { createHub } from './create-hub.ts';
import { HubError, type HubErrorCode } from './hub-error.ts';
import { restoreDataDir } from './restore-data-dir.ts';
import { call, TestFleet } from './testing/test-fleet.ts';

const root = await mkdtemp(join(tmpdir(), 'asterism-backup-'));
after(() => rm(root, { recursive: true, force: true }));

const isHubError = (code: HubErrorCode, says: RegExp) => (error: unknown) => {
  assert.ok(error instanceof HubError, String(error));
  assert.equal(error.code, code, error.message);
  assert.match(error.message, says);
  return true;
};

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

describe('a backup of a hub that runs', () => {
  test('is put back as the same hub, and no client that has seen more than it has is fooled', async () => {
    await using fleet = await TestFleet.start();
    const member = await fleet.startMember();
    const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
    await fleet.join(member, { token }).ready;
    const maps = fleet.hub.client.resource(CONFIG_MAPS);
    const kept = await maps.create({ metadata: { name: 'kept', namespace: 'default' }, data: { is: 'old' } });
    const { objects } = await backupDataDir({ dataDir: fleet.dataDir, to: join(root, 'running') });
    assert.ok(objects > 20, `${objects} objects`);
    await maps.create({ metadata: { name: 'late', namespace: 'default' } });
    await maps.update({ ...kept, data: { is: 'new' } });
    const seen = (await maps.list()).metadata?.resourceVersion ?? '';
    const { adminConnection, ca } = fleet.hub;
    const port = Number(new URL(fleet.hub.url).port);
    await fleet.hub.stop();

    const dataDir = join(root, 'elsewhere');
    await restoreDataDir({ from: join(root, 'running'), dataDir });
    await fleet.startHub({ dataDir, listen: { host: '127.0.0.1', port } });
    assert.equal(fleet.hub.ca, ca);
    // Over the network, with the credentials of before.
    const admin = fleet.client(adminConnection);
    const found = await admin.resource(CONFIG_MAPS).get({ name: 'kept', namespace: 'default' });
    assert.deepEqual([found.data, found.metadata?.uid], [{ is: 'old' }, kept.metadata?.uid]);
    await assert.rejects(admin.resource(CONFIG_MAPS).get({ name: 'late', namespace: 'default' }), isNotFound);
    const created = await admin.resource(CONFIG_MAPS).create({ metadata: { name: 'new', namespace: 'default' } });
    assert.ok(Number(created.metadata?.resourceVersion) > Number(seen), 'resourceVersions go on above');
    const watch = await call(admin, 'GET', `/api/v1/configmaps?watch=1&resourceVersion=${seen}&timeoutSeconds=5`);
    assert.match(watch.body, /^\{"type":"ERROR",.*"code":410/);
    // The agent has been told nothing: it goes on, and what it says is heard.
    await untilObject(admin, CLUSTERS, { name: 'edge-1' }, (cluster) => {
      const ready = cluster?.status?.conditions?.find(({ type }) => type === 'Ready');
      return ready?.status === 'True';
    });
    assert.match((await fleet.reached('edge-1')).version, /^v1\./);
  });

  test('is for its user alone, and holds nothing that a hub makes again', async () => {
    await using fleet = await TestFleet.start();
    const to = join(root, 'modes');
    await backupDataDir({ dataDir: fleet.dataDir, to });
    const files = await filesBelow(to);
    for (const file of files) assert.equal((await stat(file)).mode & 0o777, 0o600, file);
    for (const folder of [to, join(to, 'pki')]) assert.equal((await stat(folder)).mode & 0o777, 0o700, folder);
    const names = files.map((file) => file.slice(to.length + 1)).sort();
    assert.deepEqual(names, [
      'hub.db',
      'manifest.json',
      ...['admin.crt', 'admin.key', 'ca.crt', 'ca.key', 'service-account.key', 'serving.crt', 'serving.key'].map(
        (name) => `pki/${name}`,
      ),
    ]);
    const dataDir = join(root, 'modes-restored');
    await restoreDataDir({ from: to, dataDir });
    for (const file of await filesBelow(dataDir)) assert.equal((await stat(file)).mode & 0o777, 0o600, file);
  });
});

describe('nothing is written over', () => {
  test('by a backup, which leaves nothing behind when it fails', async () => {
    await using fleet = await TestFleet.start();
    const there = join(root, 'there');
    await mkdir(there);
    await assert.rejects(
      backupDataDir({ dataDir: fleet.dataDir, to: there }),
      isHubError('BackupUnusable', /there exists already/),
    );
    await assert.rejects(
      backupDataDir({ dataDir: fleet.dataDir, to: join(root, 'missing', 'b') }),
      isHubError('BackupUnusable', /missing.*ENOENT/),
    );
    await assert.rejects(
      backupDataDir({ dataDir: there, to: join(root, 'none') }),
      isHubError('DataDirUnusable', /there is no data directory of a hub/),
    );
    assert.deepEqual(await readdir(there), []);
    assert.ok(!(await readdir(root)).some((name) => /^(none|missing)|unfinished/.test(name)));
  });

  test('by a restore, nor where a hub runs', async () => {
    await using fleet = await TestFleet.start();
    const from = join(root, 'again');
    await backupDataDir({ dataDir: fleet.dataDir, to: from });
    const before = await readFile(join(fleet.dataDir, 'pki', 'ca.key'), 'utf8');
    await assert.rejects(
      restoreDataDir({ from, dataDir: fleet.dataDir }),
      isHubError('DataDirLocked', /another hub runs on/),
    );
    await fleet.hub.stop();
    await assert.rejects(
      restoreDataDir({ from, dataDir: fleet.dataDir }),
      isHubError('DataDirUnusable', /holds a hub already .*hub\.db/),
    );
    assert.equal(await readFile(join(fleet.dataDir, 'pki', 'ca.key'), 'utf8'), before);
  });
});

describe('of a backup that is not whole nothing is put back', () => {
  const cases: readonly (readonly [string, (folder: string) => Promise<void>, RegExp])[] = [
    ['a byte more in the database', (folder) => appendFile(join(folder, 'hub.db'), 'x'), /is damaged: hub\.db/],
    ['a key is missing', (folder) => rm(join(folder, 'pki', 'ca.key')), /is not whole: .*ca\.key/],
    ['no manifest', (folder) => rm(join(folder, 'manifest.json')), /is no backup: it has no manifest\.json/],
    [
      'a manifest of another format',
      (folder) => writeManifest(folder, { format: 9 }),
      /has format 9, this release knows 1/,
    ],
    [
      'a manifest that names other files',
      (folder) => writeManifest(folder, { format: 1, files: [{ name: '../x', bytes: 1, sha256: '' }] }),
      /manifest\.json is damaged/,
    ],
  ];
  for (const [name, damage, says] of cases) {
    test(name, async () => {
      const dataDir = await stoppedHub();
      const from = join(root, `damaged ${name}`);
      await backupDataDir({ dataDir, to: from });
      await damage(from);
      const to = join(root, `not ${name}`);
      await assert.rejects(restoreDataDir({ from, dataDir: to }), isHubError('BackupUnusable', says));
      await assert.rejects(stat(to));
    });
  }

  test('one that was cut off keeps a hub from starting, and is begun anew', async () => {
    const from = join(root, 'cut');
    await backupDataDir({ dataDir: await stoppedHub(), to: from });
    const dataDir = join(root, 'cut-restored');
    await mkdir(join(dataDir, 'pki'), { recursive: true });
    await writeFile(join(dataDir, 'restore-unfinished'), '');
    await writeFile(join(dataDir, 'pki', 'ca.key'), 'half');
    for (const file of ['hub.db', 'hub.db-wal', 'hub.db-journal']) await writeFile(join(dataDir, file), 'half');
    const hub = createHub({ dataDir, listen: { host: '127.0.0.1', port: 0 }, logger: silentLogger });
    await assert.rejects(hub.start(), isHubError('DataDirUnusable', /not all of it is there.*aster restore/));
    await restoreDataDir({ from, dataDir });
    await using second = createHub({ dataDir, listen: { host: '127.0.0.1', port: 0 }, logger: silentLogger });
    await second.start();
  });
});

describe('next to what another hub left', () => {
  const left: readonly (readonly [string, readonly string[]])[] = [
    ['a whole hub', ['hub.db', 'pki', 'search.db', 'kubeconfig', 'identity.json']],
    ['the log of a database that was moved away', ['hub.db-wal', 'hub.db-shm']],
    ['a rollback journal', ['hub.db-journal']],
    ['the log of templates', ['templates.db-wal']],
    ['the log of search', ['search.db-wal']],
    ['an empty folder of keys', ['pki']],
  ];
  for (const [name, files] of left) {
    test(`${name}: refused, with every name at once`, async () => {
      const from = join(root, `next to ${name}`);
      await backupDataDir({ dataDir: await stoppedHub(), to: from });
      const dataDir = await mkdtemp(join(root, 'left-'));
      for (const file of files) {
        if (file === 'pki') await mkdir(join(dataDir, file));
        else await writeFile(join(dataDir, file), 'theirs');
      }
      const before = (await readdir(dataDir)).sort();
      await assert.rejects(restoreDataDir({ from, dataDir }), (error) => {
        isHubError('DataDirUnusable', /holds a hub already/)(error);
        const named = /already \((.*)\), and/.exec((error as Error).message)?.[1]?.split(', ');
        assert.deepEqual(named?.sort(), [...files].sort());
        return true;
      });
      const after = (await readdir(dataDir)).filter((file) => !['lock', 'hub.pid'].includes(file));
      assert.deepEqual(after.sort(), before);
    });
  }

  test('a hub does not start on a log whose database was moved away, and leaves it as it is', async () => {
    const dataDir = await stoppedHub();
    await rm(join(dataDir, 'hub.db'));
    await writeFile(join(dataDir, 'hub.db-wal'), 'the last writes');
    const hub = createHub({ dataDir, listen: { host: '127.0.0.1', port: 0 }, logger: silentLogger });
    await assert.rejects(
      hub.start(),
      isHubError('DataDirUnusable', /hub\.db is not there, but its log .*hub\.db-wal is/),
    );
    assert.equal(await readFile(join(dataDir, 'hub.db-wal'), 'utf8'), 'the last writes');
  });
});

test('a damaged object is named by a backup, which is not made', async () => {
  const dataDir = await stoppedHub();
  {
    using database = new DatabaseSync(join(dataDir, 'hub.db'));
    database.exec(`UPDATE object SET value = x'00' WHERE groupResource = 'namespaces' AND name = 'default'`);
  }
  await assert.rejects(
    backupDataDir({ dataDir, to: join(root, 'of-damaged') }),
    isHubError('DatabaseCorrupt', /namespaces "default" cannot be read/),
  );
  await assert.rejects(stat(join(root, 'of-damaged')));
});

test('the templates of a hub on a kube-apiserver are backed up and put back too, and keys alone where there are none', async () => {
  const dataDir = await stoppedHub();
  await rename(join(dataDir, 'hub.db'), join(dataDir, 'templates.db'));
  const backedUp = await backupDataDir({ dataDir, to: join(root, 'templates') });
  const restored = await restoreDataDir({ from: join(root, 'templates'), dataDir: join(root, 'templates-restored') });
  assert.ok(backedUp.objects > 20);
  assert.equal(restored.objects, backedUp.objects);
  assert.ok(restored.revision > backedUp.revision);
  assert.ok((await readdir(join(root, 'templates-restored'))).includes('templates.db'));
  await rm(join(dataDir, 'templates.db'));
  const { objects, keys } = await backupDataDir({ dataDir, to: join(root, 'keys') });
  assert.deepEqual([objects, keys], [0, 7]);
  assert.equal((await restoreDataDir({ from: join(root, 'keys'), dataDir: join(root, 'keys-restored') })).keys, 7);
});

test('put back twice, the second life is above all that the first gave', async () => {
  const from = join(root, 'twice');
  await backupDataDir({ dataDir: await stoppedHub(), to: from });
  const first = await restoreDataDir({ from, dataDir: join(root, 'twice-1') });
  const second = await restoreDataDir({ from, dataDir: join(root, 'twice-2') });
  assert.ok(second.revision > first.revision);
  assert.ok(Number.isSafeInteger(second.revision));
});

/** The data directory of a hub that has run. */
async function stoppedHub(): Promise<string> {
  const dataDir = await mkdtemp(join(root, 'stopped-'));
  await using hub = createHub({ dataDir, listen: { host: '127.0.0.1', port: 0 }, logger: silentLogger });
  await hub.start();
  return dataDir;
}

async function writeManifest(folder: string, manifest: object): Promise<void> {
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest));
}

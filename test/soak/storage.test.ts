import assert from 'node:assert/strict';
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { inspectDatabase } from '@asterism/apiserver';
import type { Client } from '@asterism/client';
import { CONFIG_MAPS, isStatusError, type KubeObject } from '@asterism/machinery';
import { AcknowledgedWrites } from './acknowledged-writes.ts';
import { KilledServer } from './killed-server.ts';
import { seededRandom } from './seeded-random.ts';
import { WatchedObjects } from './watched-objects.ts';

const KILLS = 100;
const WRITERS = 8;
const SELECTED = { labelSelector: 'soak=storage' };

test(`a server killed (-9) ${KILLS} times under concurrent writes: nothing acknowledged is lost, nothing refused appears`, async (t) => {
  const random = seededRandom(t);
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'server.db');
  const writes = new AcknowledgedWrites(random);
  const watched = new WatchedObjects();
  for (let round = 0; round <= KILLS; round++) {
    await using server = await KilledServer.start(file);
    const { items, metadata } = await server.client.resource(CONFIG_MAPS).list(SELECTED);
    writes.check(items, metadata?.resourceVersion);
    if (round % 10 === 4) watched.rewind();
    await catchUp(server.client, watched, { writes, items, round });
    if (round === KILLS) break;
    const watching = watched.follow(server.client, writes.refused, () => false);
    const writing = Array.from({ length: WRITERS }, (_, writer) => writes.write(server.client, writer));
    await delay(20 + random() * 500);
    await server.kill();
    await Promise.all([...writing, watching]);
  }
  t.diagnostic(
    `${writes.acknowledgements} writes acknowledged, ${writes.refused.size} refused, ${watched.events} events, ` +
      `${watched.expired} times 410, resourceVersion ${writes.newest}`,
  );
  assert.ok(writes.acknowledgements > KILLS * 10);
  assert.ok(watched.expired <= KILLS / 10, 'only those that ask for what is long gone');
});

/** The watch goes on from before the kill; what it knows when it has seen a marker is what the list shows. */
async function catchUp(
  client: Client,
  watched: WatchedObjects,
  { writes, items, round }: { writes: AcknowledgedWrites; items: readonly KubeObject[]; round: number },
): Promise<void> {
  const metadata = { namespace: 'default', name: 'marker', labels: { soak: 'storage' } };
  const value = `marker ${round}`;
  const maps = client.resource(CONFIG_MAPS);
  const there = items.some((item) => item.metadata?.name === 'marker');
  const marker = there
    ? await maps.update({ metadata, data: { value } })
    : await maps.create({ metadata, data: { value } });
  const reached = (object: KubeObject): boolean =>
    object.metadata?.resourceVersion === marker.metadata?.resourceVersion;
  const seen = await Promise.race([watched.follow(client, writes.refused, reached), delay(10_000, 'too late')]);
  assert.equal(seen, true, `the marker of round ${round} was not seen`);
  watched.check((await maps.list(SELECTED)).items);
}

const CANNOT_MOUNT = cannotMount();

test('a disk that is full: writes fail and say so, reads and watches go on, and with space all is well again', {
  skip: CANNOT_MOUNT,
}, async (t) => {
  await using folder = await temporaryFolder();
  const disk = join(folder.path, 'disk');
  await using server = await startOnSmallDisk(disk);
  // The server's disk, as it is seen from here.
  const seen = `/proc/${server.pid}/root${disk}`;
  const maps = server.client.resource(CONFIG_MAPS);
  const watching = watchNames(server.client);
  const acknowledged: string[] = [];
  let asked = 0;
  const fill = async (): Promise<unknown> => {
    for (;;) {
      const name = `filling-${asked++}`;
      try {
        await maps.create({ metadata: { namespace: 'default', name }, data: { filling: 'x'.repeat(60_000) } });
        acknowledged.push(name);
      } catch (error) {
        return error;
      }
    }
  };
  for (const error of await Promise.all([fill(), fill(), fill()])) assertSaysFull(error);
  for (let i = 0; i < 50; i++) {
    const before = (await maps.list({ namespace: 'default', fieldSelector: 'metadata.name!=kube-root-ca.crt' })).items;
    assert.equal(before.length, acknowledged.length, 'a list shows what was acknowledged, and nothing else');
    await maps.get({ namespace: 'default', name: acknowledged[0] ?? '' });
    assertSaysFull(await fill());
  }
  await rm(join(seen, 'ballast'));
  for (let i = 0; i < 20; i++) {
    const name = `after-${i}`;
    await maps.create({ metadata: { namespace: 'default', name }, data: { filling: 'x'.repeat(20_000) } });
    acknowledged.push(name);
  }
  await maps.delete({ namespace: 'default', name: acknowledged[0] ?? '' });
  await maps.create({ metadata: { namespace: 'default', name: 'last' } });
  const told = await Promise.race([watching, delay(10_000, undefined)]);
  assert.deepEqual(told?.filter((name) => name !== 'kube-root-ca.crt').sort(), [...acknowledged, 'last'].sort());
  // What is on that disk is whole, and has it all.
  const copy = join(folder.path, 'copy.db');
  for (const end of ['', '-wal']) await copyFile(join(seen, `server.db${end}`), `${copy}${end}`);
  const { objects } = await inspectDatabase(copy);
  assert.ok(objects >= acknowledged.length);
  t.diagnostic(`${acknowledged.length} writes acknowledged, full at ${acknowledged.length - 20}`);
});

/** A server whose database is on a file system of 8 MB that only it sees, with a `ballast` of 3 MB. */
async function startOnSmallDisk(disk: string): Promise<KilledServer> {
  await mkdir(disk);
  const mountAndRun =
    'mount -t tmpfs -o size=8m,mode=700 tmpfs "$0" && head -c 3000000 /dev/zero > "$0/ballast" && exec "$@"';
  return await KilledServer.start(join(disk, 'server.db'), ['unshare', '--mount', 'sh', '-c', mountAndRun, disk]);
}

function assertSaysFull(error: unknown): void {
  assert.ok(isStatusError(error, 'ServiceUnavailable'), String(error));
  assert.match(
    error.message,
    /^the server cannot write: no space left to write .*server\.db: free some, then try again$/,
  );
  assert.equal(error.retryAfterSeconds, undefined);
}

/** The names that a watch tells of as added, until `last` is. */
async function watchNames(client: Client): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { type, object } of client.resource(CONFIG_MAPS).watch({ namespace: 'default' })) {
    if (type !== 'ADDED') continue;
    names.push(object.metadata?.name ?? '');
    if (object.metadata?.name === 'last') break;
  }
  return names;
}

function cannotMount(): string | false {
  const { status } = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()], { stdio: 'ignore' });
  return status === 0 ? false : 'a small file system of its own needs root and unshare';
}

async function temporaryFolder(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'asterism-storage-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

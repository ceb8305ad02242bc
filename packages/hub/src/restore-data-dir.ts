import { wallNow } from '@asterism/client';
import { existsSync } from 'node:fs';
import { chmod, constants, copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { renewRevisions } from '@asterism/apiserver';
import { type BackupSummary, sizesOf } from './backup-data-dir.ts';
import { type BackupManifest, readBackup } from './backup-manifest.ts';
import { databaseFiles, DATABASES, type DataDirPaths, lockDataDir } from './data-dir.ts';
import { HubError } from './hub-error.ts';
import { startError } from './start-error.ts';
import { syncToDisk } from './sync-to-disk.ts';

export interface RestoreOptions {
  /** What {@link backupDataDir} made. */
  from: string;
  /** Made where it is missing; one that holds a hub already is left alone. */
  dataDir: string;
  /** Milliseconds since 1970. */
  clock?: () => number;
}

/**
 * Puts a backup into a data directory, for a hub that is started there to be the one that was backed up: the same objects with the
 * same uids, the same authority, so the credentials of users and agents go on to work.
 *
 * Clients that go on too have seen resourceVersions that came after the backup. The hub's next ones are above those, and it
 * remembers nothing of its past: watches of before are told that they are too old (410), and list. See `renewRevisions`.
 *
 * What was begun and not finished keeps a hub from starting there, and is begun anew by another call. Rejects with `HubError`
 * `BackupUnusable`, `DataDirUnusable`, `DataDirLocked`.
 */
export async function restoreDataDir({ from, dataDir, clock = wallNow }: RestoreOptions): Promise<BackupSummary> {
  const manifest = await readBackup(from);
  using paths = await lockDataDir(dataDir);
  await requireFree(paths);
  try {
    return await putBack(from, manifest, paths, clock());
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new HubError(
        'DataDirUnusable',
        `${dataDir} cannot be written (${code}): make it this user's, with space for all of the hub's data, then put the backup back again`,
        error,
      );
    }
    throw startError(error, { host: '', port: 0, dataDir });
  }
}

async function putBack(
  from: string,
  { files }: BackupManifest,
  paths: DataDirPaths,
  now: number,
): Promise<BackupSummary> {
  await writeFile(paths.unfinished, `${from}\n`, { mode: 0o600 });
  await syncToDisk(paths.path);
  await mkdir(paths.pki, { mode: 0o700 });
  let found = { objects: 0, revision: 0 };
  for (const { name } of files) {
    const file = join(paths.path, name);
    await copyFile(join(from, name), file, constants.COPYFILE_EXCL);
    await chmod(file, 0o600);
    if (DATABASES.includes(name)) found = await renewRevisions(file, now);
    await syncToDisk(file);
  }
  for (const folder of [paths.pki, paths.path]) await syncToDisk(folder);
  await rm(paths.unfinished);
  await syncToDisk(paths.path);
  return { ...found, ...sizesOf(files) };
}

/**
 * Nothing of a hub is there, except what a restore that was cut off left, which is removed. A log without its database counts: SQLite
 * would replay it into the database that is restored next to it.
 */
async function requireFree(paths: DataDirPaths): Promise<void> {
  const { hubDatabase, templatesDatabase, searchDatabase, pki, identity, kubeconfig, templatesKubeconfig } = paths;
  const restored = [...[hubDatabase, templatesDatabase].flatMap(databaseFiles), pki];
  if (existsSync(paths.unfinished)) {
    for (const path of restored) await rm(path, { recursive: true, force: true });
  }
  const theirs = [...restored, ...databaseFiles(searchDatabase), identity, kubeconfig, templatesKubeconfig];
  const found = theirs.filter((path) => existsSync(path)).map((path) => basename(path));
  if (found.length === 0) return;
  throw new HubError(
    'DataDirUnusable',
    `${paths.path} holds a hub already (${found.join(', ')}), and nothing is written over it: move all of these away together, or ` +
      'choose another directory',
  );
}

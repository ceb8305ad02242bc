import { wallNow } from '@asterism/client';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { copyDatabase, formatDamagedRows, inspectDatabase, type StorageKey } from '@asterism/apiserver';
import { type BackupFile, type BackupManifest, describeFile, MANIFEST } from './backup-manifest.ts';
import { DATABASES, dataDirPaths } from './data-dir.ts';
import { HubError } from './hub-error.ts';
import { startError } from './start-error.ts';
import { syncToDisk } from './sync-to-disk.ts';

export interface BackupOptions {
  dataDir: string;
  /** The folder to be made; the one above it exists. */
  to: string;
  /** Milliseconds since 1970. */
  clock?: () => number;
}

/** What is in a backup, or was put back from one. */
export interface BackupSummary {
  /** Of the API; 0 where the hub keeps none of its own. */
  objects: number;
  /** The newest resourceVersion. */
  revision: number;
  /** Keys and certificates. */
  keys: number;
  bytes: number;
}

/**
 * Copies what a hub cannot make again out of its data directory: the database with its objects, and its keys. The hub may run, and
 * is neither asked nor held up: the database is copied as it is at one moment, and read all through before it counts. Search is
 * left out, for the hub fills it again from the members, and so is what it writes at each start.
 *
 * The folder appears whole, or not at all; it and everything in it is for this user alone, for the keys make an administrator of
 * whoever has them. Rejects with `HubError` `BackupUnusable` (the target), `DataDirUnusable`, `DataDirLocked`, `DatabaseCorrupt`.
 */
export async function backupDataDir({ dataDir, to, clock = wallNow }: BackupOptions): Promise<BackupSummary> {
  if (!existsSync(join(dataDirPaths(dataDir).pki, 'ca.key'))) {
    throw new HubError('DataDirUnusable', `${dataDir} is no data directory of a hub: name the one that it runs on`);
  }
  if (existsSync(to)) throw new HubError('BackupUnusable', `${to} exists already: choose a name that is free`);
  const part = `${to}.unfinished`;
  await makeFolder(part);
  try {
    const keys = await copyKeys(dataDir, part);
    const { files, ...summary } = await copyDatabases(dataDir, part);
    await finish([...keys, ...files], part, clock());
    await rename(part, to);
    await syncToDisk(dirname(to));
    return { ...summary, ...sizesOf([...keys, ...files]) };
  } catch (error) {
    await rm(part, { recursive: true, force: true });
    throw isFileError(error) ? unwritable(to, error) : startError(error, { host: '', port: 0, dataDir });
  }
}

/** How many keys and bytes these are. */
export function sizesOf(files: readonly BackupFile[]): Pick<BackupSummary, 'keys' | 'bytes'> {
  return {
    keys: files.filter(({ name }) => name.startsWith('pki/')).length,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** One that a backup which was cut off left is made anew. */
async function makeFolder(part: string): Promise<void> {
  try {
    await rm(part, { recursive: true, force: true });
    await mkdir(part, { mode: 0o700 });
    await mkdir(join(part, 'pki'), { mode: 0o700 });
  } catch (error) {
    throw unwritable(part, error as NodeJS.ErrnoException);
  }
}

async function copyKeys(dataDir: string, part: string): Promise<BackupFile[]> {
  const { pki } = dataDirPaths(dataDir);
  const files: BackupFile[] = [];
  for (const file of (await readdir(pki)).sort()) {
    if (!/\.(crt|key)$/.test(file)) continue; // one that is just being written
    await writeFile(join(part, 'pki', file), await readFile(join(pki, file)), { mode: 0o600, flag: 'wx' });
    files.push(await describeFile(part, `pki/${file}`));
  }
  return files;
}

/** A data directory has one of them, or none. */
async function copyDatabases(
  dataDir: string,
  part: string,
): Promise<{ files: BackupFile[]; objects: number; revision: number }> {
  const files: BackupFile[] = [];
  let found = { objects: 0, revision: 0 };
  for (const name of DATABASES) {
    if (!existsSync(join(dataDir, name))) continue;
    await copyDatabase(join(dataDir, name), join(part, name));
    const { damaged, ...summary } = await inspectDatabase(join(part, name));
    if (damaged.length > 0) throw damagedError(join(dataDir, name), damaged);
    found = summary;
    files.push(await describeFile(part, name));
  }
  return { files, ...found };
}

/** A backup that cannot be restored is none: the last one from before the damage is worth more. */
function damagedError(file: string, damaged: readonly StorageKey[]): HubError {
  return new HubError(
    'DatabaseCorrupt',
    `${file} is damaged, so nothing was backed up: the stored copy of ${formatDamagedRows(damaged)} cannot be read. ` +
      'Delete what is damaged (aster doctor says how), or restore the last backup',
  );
}

async function finish(files: readonly BackupFile[], part: string, now: number): Promise<void> {
  const manifest: BackupManifest = { format: 1, time: new Date(now).toISOString(), files };
  await writeFile(join(part, MANIFEST), `${JSON.stringify(manifest, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' });
  for (const { name } of files) await syncToDisk(join(part, name));
  for (const name of [MANIFEST, 'pki', '.']) await syncToDisk(join(part, name));
}

function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

function unwritable(to: string, cause: NodeJS.ErrnoException): HubError {
  return new HubError(
    'BackupUnusable',
    `${to} cannot be written (${cause.code ?? cause.message}): choose a folder of this user's, with space for all of the hub's data`,
    cause,
  );
}

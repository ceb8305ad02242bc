import { accessSync, constants, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sqliteFault } from '@asterism/machinery';
import { HubError } from './hub-error.ts';

/** Where the files of one hub are. Everything in it is for this user alone. */
export interface DataDirPaths {
  path: string;
  /** Keys and certificates. */
  pki: string;
  hubDatabase: string;
  searchDatabase: string;
  /** Of the API server that holds the templates of a fleet on an existing kube-apiserver. */
  templatesDatabase: string;
  kubeconfig: string;
  templatesKubeconfig: string;
  /** Who held it last, as a leader; see `takeIdentity`. */
  identity: string;
  /** There while a backup is being put back: a hub that started now would find half of what it had. */
  unfinished: string;
}

/** {@link DataDirPaths} that this process has for itself. */
export interface DataDir extends DataDirPaths, Disposable {
  /**
   * Names the lock that this process holds, among all of this machine since it was started: whoever held it before has ended.
   * Undefined where the machine does not tell.
   */
  lockId: string | undefined;
}

/** By their names in the directory: what an API server of ours keeps there, of which there is at most one. */
export const DATABASES: readonly string[] = ['hub.db', 'templates.db'];

/** A database, and the logs that SQLite writes next to it: who moves one moves all. */
export function databaseFiles(database: string): string[] {
  return ['', '-wal', '-shm', '-journal'].map((ending) => `${database}${ending}`);
}

export function dataDirPaths(path: string): DataDirPaths {
  return {
    path,
    pki: join(path, 'pki'),
    hubDatabase: join(path, 'hub.db'),
    searchDatabase: join(path, 'search.db'),
    templatesDatabase: join(path, 'templates.db'),
    kubeconfig: join(path, 'kubeconfig'),
    templatesKubeconfig: join(path, 'templates.kubeconfig'),
    identity: join(path, 'identity.json'),
    unfinished: join(path, 'restore-unfinished'),
  };
}

/**
 * Makes the directory where it is missing and takes it for this process, until it is disposed of. Throws `HubError`
 * `DataDirUnusable` or `DataDirLocked`.
 *
 * The lock is SQLite's on a file of its own, so it ends with the process however that ends: nothing is ever left to clean up.
 */
export async function openDataDir(path: string): Promise<DataDir> {
  const dataDir = await lockDataDir(path);
  if (!existsSync(dataDir.unfinished)) return dataDir;
  dataDir[Symbol.dispose]();
  throw new HubError(
    'DataDirUnusable',
    `a backup was being put back into ${path}, and not all of it is there: put it back again (aster restore)`,
  );
}

/** The same, also of one into which a backup was not put back to the end. */
export async function lockDataDir(path: string): Promise<DataDir> {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new HubError(
      'DataDirUnusable',
      `the data directory ${path} cannot be written (${(cause as NodeJS.ErrnoException).code}): make it this user's, or ` +
        'choose another with --data-dir',
      cause,
    );
  }
  const release = await lock(path);
  return {
    ...dataDirPaths(path),
    lockId: lockIdOf(join(path, 'lock')),
    [Symbol.dispose]: release,
  };
}

async function lock(path: string): Promise<() => void> {
  const { DatabaseSync } = await import('node:sqlite');
  const file = join(path, 'lock');
  const holder = join(path, 'hub.pid');
  try {
    // Not opened where it is there: to close it again would end a lock that this process has on it.
    if (!existsSync(file)) writeFileSync(file, '', { flag: 'a', mode: 0o600 });
    const database = new DatabaseSync(file, { timeout: 0 });
    try {
      // No journal file: a full disk has no room for one.
      database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    } catch (error) {
      database.close();
      throw error;
    }
    sayWhoHolds(holder);
    return () => database.close();
  } catch (cause) {
    if (sqliteFault(cause) !== 'locked') {
      throw new HubError('DataDirUnusable', `the lock of ${path} cannot be taken: ${(cause as Error).message}`, cause);
    }
    throw new HubError(
      'DataDirLocked',
      `another hub runs on ${path} (${holderOf(holder)}): stop it, or choose another directory with --data-dir`,
      cause,
    );
  }
}

function sayWhoHolds(holder: string): void {
  try {
    writeFileSync(holder, `${process.pid}\n`, { mode: 0o600 });
  } catch {
    // It only informs: a hub starts on a full disk too.
  }
}

/** A copy of the folder, on this machine or another, has another lock. */
function lockIdOf(file: string): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const { dev, ino } = statSync(file, { bigint: true });
    return `${boot}/${dev}/${ino}`;
  } catch {
    return undefined;
  }
}

function holderOf(file: string): string {
  try {
    return `process ${readFileSync(file, 'utf8').trim()}`;
  } catch {
    return 'of an unknown process';
  }
}

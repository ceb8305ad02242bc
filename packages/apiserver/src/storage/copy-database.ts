import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { DatabaseSync } from 'node:sqlite';
import { checkDatabase } from './check-database.ts';
import { formatDamagedRows } from './damaged-rows.ts';
import { revisionAfterLoss } from './revision-after-loss.ts';
import { stateChecksum } from './row-checksum.ts';
import { keyOf, objectOf } from './sqlite-connection.ts';
import { storageErrorOf } from './sqlite-error.ts';
import { privateFile } from './sqlite-lock.ts';
import { hasChecksums, schemaVersion } from './sqlite-schema.ts';
import { StorageError } from './storage-error.ts';
import type { StorageKey } from '../contract/object-change.ts';

/** For a server that is just starting or stopping, ms. */
const BUSY_TIMEOUT_MS = 5000;
/** Of a copy, in one step: so it is of one moment, and what is written meanwhile does not make it begin again. */
const ALL_PAGES = 2 ** 31 - 1;

/**
 * Copies the database of `createSqliteStorage` in `from` to `to`, which must not exist, as it is at one moment. Any process of the
 * same user can do that: a server that runs on it is neither asked nor held up, for a reader of a write-ahead log sees the last
 * commit before it began. Rejects with a {@link StorageError}, and then leaves nothing in `to`.
 */
export async function copyDatabase(from: string, to: string): Promise<void> {
  if (existsSync(to)) throw new StorageError('UNAVAILABLE', `${to} exists already: choose another name`);
  const { backup } = await import('node:sqlite');
  using source = await openExisting(from);
  try {
    await backup(source.database, privateFile(to), { rate: ALL_PAGES });
  } catch (error) {
    await rm(to, { force: true });
    const reason = storageErrorOf(error, to);
    // What is wrong with the source is found only now, as it is read.
    throw reason.code === 'CORRUPT' || reason.code === 'LOCKED' ? storageErrorOf(error, from) : reason;
  }
}

/** What {@link inspectDatabase} finds. */
export interface DatabaseSummary {
  objects: number;
  /** The newest revision given. */
  revision: number;
  /** The objects whose stored copy is not as it was written. Databases of releases without checksums have none. */
  damaged: readonly StorageKey[];
}

/** Reads all of a database that nobody uses. Rejects with a {@link StorageError}: `CORRUPT`, `NEWER`, `UNAVAILABLE`. */
export async function inspectDatabase(file: string): Promise<DatabaseSummary> {
  using opened = await openExisting(file);
  try {
    return inspect(opened.database, file);
  } catch (error) {
    throw storageErrorOf(error, file);
  }
}

/**
 * Makes a copy that is put back fit to be served: clients may have seen revisions after it was made, and would go on from there,
 * past all that is new. So its next revision is above any that was ever given, and of the past it remembers nothing: who comes
 * with a revision of before is told that it is too old (410), and lists.
 *
 * Rejects with `CORRUPT` if a row is damaged, and names each: what is put back is served.
 *
 * @param now milliseconds since 1970, by which a copy that is put back a second time is above the first time's revisions too.
 */
export async function renewRevisions(file: string, now: number): Promise<DatabaseSummary> {
  using opened = await openExisting(file);
  const { database } = opened;
  try {
    const { objects, revision, damaged } = inspect(database, file);
    if (damaged.length > 0) {
      throw new StorageError('CORRUPT', `${file} is damaged (${formatDamagedRows(damaged)}): take another copy`);
    }
    const next = revisionAfterLoss(revision, now);
    database.exec('PRAGMA synchronous = FULL; BEGIN IMMEDIATE; DELETE FROM event');
    for (const key of ['revision', 'compacted']) setState(database, key, next);
    database.exec('COMMIT');
    return { objects, revision: next, damaged };
  } catch (error) {
    throw storageErrorOf(error, file);
  }
}

function inspect(database: DatabaseSync, file: string): DatabaseSummary {
  if (schemaVersion(database, file) === 0) {
    throw new StorageError('CORRUPT', `${file} is empty: it is no database of an API server`);
  }
  checkDatabase(database, file, Number.POSITIVE_INFINITY);
  const count = (sql: string): number => Number(database.prepare(sql).get()?.value ?? 0);
  return {
    objects: count('SELECT count(*) AS value FROM object'),
    revision: count(`SELECT value FROM state WHERE key = 'revision'`),
    damaged: hasChecksums(database) ? damagedRows(database) : [],
  };
}

function damagedRows(database: DatabaseSync): StorageKey[] {
  const rows = database.prepare('SELECT groupResource, namespace, name, revision, value, checksum FROM object');
  rows.setReadBigInts(true);
  const damaged: StorageKey[] = [];
  for (const row of rows.iterate()) if (!objectOf(row)) damaged.push(keyOf(row));
  return damaged;
}

function setState(database: DatabaseSync, key: string, value: number): void {
  database.prepare('UPDATE state SET value = ? WHERE key = ?').run(value, key);
  if (!hasChecksums(database)) return;
  database.prepare('UPDATE state SET checksum = ? WHERE key = ?').run(stateChecksum(key, value), key);
}

interface Opened extends Disposable {
  database: DatabaseSync;
}

async function openExisting(file: string): Promise<Opened> {
  if (!existsSync(file)) throw new StorageError('UNAVAILABLE', `${file} does not exist`);
  const { DatabaseSync } = await import('node:sqlite');
  let database: DatabaseSync | undefined;
  try {
    const opened = (database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS }));
    // Now, rather than with the first page: whether it is a database, and whether it is free.
    opened.exec('PRAGMA schema_version');
    return { database: opened, [Symbol.dispose]: () => opened.close() };
  } catch (error) {
    database?.close();
    throw storageErrorOf(error, file);
  }
}

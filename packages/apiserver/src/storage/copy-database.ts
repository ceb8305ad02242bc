import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { DatabaseSync } from 'node:sqlite';
import { storageErrorOf } from './sqlite-error.ts';
import { privateFile } from './sqlite-lock.ts';
import { schemaVersion } from './sqlite-schema.ts';
import { StorageError } from './storage-error.ts';

/** For a server that is just starting or stopping, ms. */
const BUSY_TIMEOUT_MS = 5000;
/** Of a copy, in one step: so it is of one moment, and what is written meanwhile does not make it begin again. */
const ALL_PAGES = 2 ** 31 - 1;
/** More than any server gives in the time between a backup and the loss of what came after it; what etcd's tools take. */
const RESTORE_LEAP = 1_000_000_000;

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
 * @param now microseconds since 1970, by which a copy that is put back a second time is above the first time's revisions too.
 */
export async function renewRevisions(file: string, now: number): Promise<DatabaseSummary> {
  using opened = await openExisting(file);
  const { database } = opened;
  try {
    const { objects, revision } = inspect(database, file);
    const next = Math.max(revision + RESTORE_LEAP, now);
    database.exec('PRAGMA synchronous = FULL; BEGIN IMMEDIATE; DELETE FROM event');
    database.prepare(`UPDATE state SET value = ? WHERE key IN ('revision', 'compacted')`).run(next);
    database.exec('COMMIT');
    return { objects, revision: next };
  } catch (error) {
    throw storageErrorOf(error, file);
  }
}

function inspect(database: DatabaseSync, file: string): DatabaseSummary {
  if (schemaVersion(database, file) === 0) {
    throw new StorageError('CORRUPT', `${file} is empty: it is no database of an API server`);
  }
  const [check] = database.prepare('PRAGMA integrity_check(1)').all();
  if (check?.integrity_check !== 'ok') {
    throw new StorageError('CORRUPT', `${file} is damaged (${String(check?.integrity_check)}): take another copy`);
  }
  const count = (sql: string): number => Number(database.prepare(sql).get()?.value ?? 0);
  return {
    objects: count('SELECT count(*) AS value FROM object'),
    revision: count(`SELECT value FROM state WHERE key = 'revision'`),
  };
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

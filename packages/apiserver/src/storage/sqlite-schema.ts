import type { DatabaseSync } from 'node:sqlite';
import { StorageError } from './storage-error.ts';

/** `astr`: what `file` and SQLite say whose database this is. */
export const APPLICATION_ID = 0x61737472;

/**
 * The steps from an empty file to the newest schema. A step that was released is never changed; a new one is added behind
 * it. SQLite's `user_version` counts the steps a file has been through.
 */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE object (
     id INTEGER PRIMARY KEY,
     groupResource TEXT NOT NULL,
     namespace TEXT NOT NULL,
     name TEXT NOT NULL,
     revision INTEGER NOT NULL,
     value BLOB NOT NULL,
     UNIQUE (groupResource, namespace, name)
   ) STRICT;
   CREATE TABLE event (
     revision INTEGER PRIMARY KEY,
     groupResource TEXT NOT NULL,
     namespace TEXT NOT NULL,
     name TEXT NOT NULL,
     type TEXT NOT NULL,
     time INTEGER NOT NULL,
     previous BLOB
   ) STRICT;
   CREATE TABLE state (
     key TEXT PRIMARY KEY,
     value INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   INSERT INTO state VALUES ('revision', 0), ('compacted', 0);`,
  `PRAGMA application_id = ${APPLICATION_ID};`,
];
const FIRST_WITH_APPLICATION_ID = 2;

/** The newest schema: what {@link migrate} leads to. */
const SCHEMA_VERSION = MIGRATIONS.length;

/**
 * The schema version of `database`, 0 of an empty one. Throws `CORRUPT` where it is a database of something else, `NEWER` where a
 * later release made it.
 */
export function schemaVersion(database: DatabaseSync, file: string): number {
  const version = pragma(database, 'user_version');
  const tables = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all();
  const ours =
    version === 0
      ? tables.length === 0
      : version < FIRST_WITH_APPLICATION_ID
        ? tables.some(({ name }) => name === 'object')
        : pragma(database, 'application_id') === APPLICATION_ID;
  if (!ours) throw new StorageError('CORRUPT', `${file} is a database of something else: choose another file`);
  if (version > SCHEMA_VERSION) {
    throw new StorageError(
      'NEWER',
      `${file} has schema version ${version}, this release knows ${SCHEMA_VERSION}: start the newer release that wrote it, or restore a backup of this one`,
    );
  }
  return version;
}

/** Brings `database` to the newest schema, each step in a transaction of its own: one that is cut off is made again. */
export function migrate(database: DatabaseSync, file: string): void {
  for (let step = schemaVersion(database, file); step < SCHEMA_VERSION; step++) {
    try {
      database.exec(`BEGIN IMMEDIATE; ${MIGRATIONS[step]} PRAGMA user_version = ${step + 1}; COMMIT`);
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }
}

function pragma(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
}

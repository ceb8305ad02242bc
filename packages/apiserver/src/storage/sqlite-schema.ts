import type { DatabaseSync } from 'node:sqlite';
import { StorageError } from './storage-error.ts';

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
];

/** Brings `database` to the newest schema, each step in a transaction of its own; `NEWER` where it is beyond that. */
export function migrate(database: DatabaseSync, file: string): void {
  const found = database.prepare('PRAGMA user_version').get()?.user_version;
  const version = typeof found === 'number' ? found : 0;
  if (version > MIGRATIONS.length) {
    throw new StorageError(
      'NEWER',
      `${file} has schema version ${version}, this release knows ${MIGRATIONS.length}: start the newer release that wrote it, or restore a backup of this one`,
    );
  }
  for (let step = version; step < MIGRATIONS.length; step++) {
    database.exec(`BEGIN IMMEDIATE; ${MIGRATIONS[step]} PRAGMA user_version = ${step + 1}; COMMIT`);
  }
}

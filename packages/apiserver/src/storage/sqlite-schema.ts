import type { DatabaseSync } from 'node:sqlite';
import { CHECKSUM_BASE, eventChecksum, NO_CHECKSUM, rowChecksum, stateChecksum } from './row-checksum.ts';
import { StorageError } from './storage-error.ts';
import { revisionOf } from './stored-revision.ts';

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
  // The functions are those of `addFunctions`. All that can be known of a value without a checksum: it is JSON, of this revision.
  `ALTER TABLE object ADD COLUMN checksum INTEGER NOT NULL DEFAULT ${NO_CHECKSUM};
   ALTER TABLE event ADD COLUMN expected INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE event ADD COLUMN previousChecksum INTEGER;
   ALTER TABLE event ADD COLUMN checksum INTEGER NOT NULL DEFAULT ${NO_CHECKSUM};
   ALTER TABLE state ADD COLUMN checksum INTEGER NOT NULL DEFAULT ${NO_CHECKSUM};
   UPDATE object SET checksum = first_checksum(groupResource, namespace, name, revision, value)
     WHERE json_valid(CAST(value AS TEXT));
   UPDATE event SET expected = stored_revision(previous) WHERE previous IS NOT NULL;
   UPDATE event SET previousChecksum = first_checksum(groupResource, namespace, name, expected, previous)
     WHERE json_valid(CAST(previous AS TEXT));
   UPDATE event SET checksum = event_checksum(revision, groupResource, namespace, name, type, time, expected);
   UPDATE state SET checksum = state_checksum(key, value);`,
  // A row whose size stays is overwritten in place, and pages of its value in which nothing changed are not written again. So the value
  // comes last, and every checksum takes as many bytes.
  `CREATE TABLE checked_object (
     id INTEGER PRIMARY KEY,
     groupResource TEXT NOT NULL,
     namespace TEXT NOT NULL,
     name TEXT NOT NULL,
     revision INTEGER NOT NULL,
     checksum INTEGER NOT NULL,
     value BLOB NOT NULL,
     UNIQUE (groupResource, namespace, name)
   ) STRICT;
   INSERT INTO checked_object SELECT id, groupResource, namespace, name, revision, ${ofEqualSize('checksum')}, value FROM object;
   DROP TABLE object;
   ALTER TABLE checked_object RENAME TO object;
   UPDATE event SET checksum = ${ofEqualSize('checksum')}, previousChecksum = ${ofEqualSize('previousChecksum')};
   UPDATE state SET checksum = ${ofEqualSize('checksum')};`,
];
const FIRST_WITH_APPLICATION_ID = 2;
const FIRST_WITH_CHECKSUMS = 3;

/** SQL for a checksum as {@link CHECKSUM_BASE} has it, of one that may be without. */
function ofEqualSize(column: string): string {
  return `iif(${column} >= 0 AND ${column} < ${CHECKSUM_BASE}, ${column} + ${CHECKSUM_BASE}, ${column})`;
}

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
  if (!ours) {
    throw new StorageError(
      'CORRUPT',
      `${file} is a database of something else: choose another file. If it is yours, its header is damaged: restore it from a backup`,
    );
  }
  if (version > SCHEMA_VERSION) {
    throw new StorageError(
      'NEWER',
      `${file} has schema version ${version}, this release knows ${SCHEMA_VERSION}: start the newer release that wrote it, or restore a backup of this one`,
    );
  }
  return version;
}

/** Whether the rows of `database` have checksums. */
export function hasChecksums(database: DatabaseSync): boolean {
  return pragma(database, 'user_version') >= FIRST_WITH_CHECKSUMS;
}

/** Brings `database` to the newest schema, each step in a transaction of its own: one that is cut off is made again. */
export function migrate(database: DatabaseSync, file: string): void {
  if (schemaVersion(database, file) < FIRST_WITH_CHECKSUMS) addFunctions(database);
  for (let step = schemaVersion(database, file); step < SCHEMA_VERSION; step++) {
    try {
      database.exec(`BEGIN IMMEDIATE; ${MIGRATIONS[step]} PRAGMA user_version = ${step + 1}; COMMIT`);
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }
}

/** What fills the checksums of rows that were written before there were any. */
function addFunctions(database: DatabaseSync): void {
  const options = { deterministic: true, directOnly: true };
  database.function('first_checksum', options, (groupResource, namespace, name, revision, value) => {
    const key = { groupResource: String(groupResource), namespace: String(namespace), name: String(name) };
    const bytes = bytesOf(value);
    return revisionOf(bytes) === Number(revision) ? rowChecksum(key, Number(revision), bytes) : NO_CHECKSUM;
  });
  database.function('stored_revision', options, (value) => revisionOf(bytesOf(value)) || 0);
  database.function('event_checksum', options, (revision, groupResource, namespace, name, type, time, expected) =>
    eventChecksum({
      revision: Number(revision),
      groupResource: String(groupResource),
      namespace: String(namespace),
      name: String(name),
      type: String(type),
      time: Number(time),
      expected: Number(expected),
    }),
  );
  database.function('state_checksum', options, (key, value) => stateChecksum(String(key), Number(value)));
}

function bytesOf(value: unknown): Buffer {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : Buffer.alloc(0);
}

function pragma(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
}

import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../store-error.ts';
import { BEGIN_ANEW } from './sqlite-error.ts';

/** In the file's header: the letters `srch`. A file with tables and without it is something else's. */
const APPLICATION_ID = 0x73726368;

/**
 * The steps from an empty file to the newest schema. A step that was released is never changed; a new one goes behind it.
 *
 * `object` is unique by (cluster, type, namespace, name); its indexes by type and by namespace serve lists over all clusters in
 * their default order; its `generation` is the replacement that last brought it. The bytes are apart, in `body`, so that what is scanned,
 * sorted and marked is small. A source that was dropped and comes again has
 * another id (AUTOINCREMENT), so that a replacement of the former one cannot write into it.
 *
 * `usage` is what each cluster has, by triggers, so that it is always right.
 *
 * The statistics are given, of a store as it may be when it matters: so the planner chooses what is right then, always the same,
 * and nothing has to be measured (https://www.sqlite.org/fileformat.html#the_sqlite_stat1_table).
 */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE type (
     id INTEGER PRIMARY KEY,
     "group" TEXT NOT NULL,
     version TEXT NOT NULL,
     resource TEXT NOT NULL,
     UNIQUE ("group", version, resource)
   ) STRICT;
   CREATE TABLE source (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     cluster TEXT NOT NULL,
     type_id INTEGER NOT NULL REFERENCES type (id),
     watermark TEXT,
     generation INTEGER NOT NULL DEFAULT 0,
     replacement INTEGER NOT NULL DEFAULT 0,
     is_replacing INTEGER NOT NULL DEFAULT 0,
     list_continue TEXT,
     list_resource_version TEXT,
     UNIQUE (cluster, type_id)
   ) STRICT;
   CREATE TABLE object (
     id INTEGER PRIMARY KEY,
     cluster TEXT NOT NULL,
     type_id INTEGER NOT NULL REFERENCES type (id),
     namespace TEXT NOT NULL,
     name TEXT NOT NULL,
     kind TEXT NOT NULL,
     uid TEXT NOT NULL,
     resource_version TEXT NOT NULL,
     owner_uid TEXT,
     created_at INTEGER NOT NULL,
     generation INTEGER NOT NULL,
     UNIQUE (cluster, type_id, namespace, name)
   ) STRICT;
   CREATE INDEX object_by_type ON object (type_id, namespace, name, cluster);
   CREATE INDEX object_by_namespace ON object (namespace, name, cluster);
   CREATE INDEX object_by_name ON object (name);
   CREATE INDEX object_by_uid ON object (uid);
   CREATE INDEX object_by_owner_uid ON object (owner_uid) WHERE owner_uid IS NOT NULL;
   CREATE INDEX object_by_created_at ON object (created_at);
   CREATE INDEX object_by_type_created_at ON object (type_id, created_at);
   CREATE TABLE body (
     object_id INTEGER PRIMARY KEY REFERENCES object (id) ON DELETE CASCADE,
     object BLOB NOT NULL CHECK (json_valid(CAST(object AS TEXT)))
   ) STRICT;
   CREATE TABLE label (
     object_id INTEGER NOT NULL REFERENCES object (id) ON DELETE CASCADE,
     key TEXT NOT NULL,
     value TEXT NOT NULL,
     PRIMARY KEY (object_id, key)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX label_by_key ON label (key, value);
   ANALYZE;
   INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
     ('object', 'sqlite_autoindex_object_1', '1000000 20000 1000 50 1'),
     ('object', 'object_by_type', '1000000 50000 500 10 1'),
     ('object', 'object_by_namespace', '1000000 5000 10 5'),
     ('object', 'object_by_type_created_at', '1000000 50000 10'),
     ('object', 'object_by_created_at', '1000000 20'),
     ('object', 'object_by_name', '1000000 10'),
     ('object', 'object_by_uid', '1000000 1'),
     ('object', 'object_by_owner_uid', '500000 5'),
     ('label', 'label', '5000000 5 1'),
     ('label', 'label_by_key', '5000000 100000 500');
   ANALYZE sqlite_schema;`,
  `ALTER TABLE object ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
   UPDATE object SET bytes = (SELECT length(object) FROM body WHERE object_id = object.id);
   CREATE TABLE usage (
     cluster TEXT PRIMARY KEY,
     rows INTEGER NOT NULL,
     bytes INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   INSERT INTO usage SELECT cluster, count(*), sum(bytes) FROM object GROUP BY cluster;
   CREATE TRIGGER object_added AFTER INSERT ON object BEGIN
     INSERT INTO usage VALUES (new.cluster, 1, new.bytes)
       ON CONFLICT (cluster) DO UPDATE SET rows = rows + 1, bytes = bytes + excluded.bytes;
   END;
   CREATE TRIGGER object_resized AFTER UPDATE OF bytes ON object WHEN old.bytes <> new.bytes BEGIN
     UPDATE usage SET bytes = bytes + new.bytes - old.bytes WHERE cluster = new.cluster;
   END;
   CREATE TRIGGER object_removed AFTER DELETE ON object BEGIN
     UPDATE usage SET rows = rows - 1, bytes = bytes - old.bytes WHERE cluster = old.cluster;
   END;`,
];

/** @throws StoreError `FOREIGN` where there are tables, and not ours. Changes nothing. */
export function requireOurs(database: DatabaseSync, file: string): void {
  if (hasOurId(database) || !database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get()) return;
  throw new StoreError('FOREIGN', `${file} is a database of something else: choose another file`);
}

/**
 * Brings `database` to the newest schema, each step in a transaction of its own.
 *
 * @throws StoreError `NEWER_SCHEMA` where it is beyond what is known here.
 */
export function migrate(database: DatabaseSync, file: string): void {
  if (!hasOurId(database)) {
    database.exec(`BEGIN IMMEDIATE; CREATE TABLE schema_version (version INTEGER NOT NULL) STRICT;
      INSERT INTO schema_version VALUES (0); PRAGMA application_id = ${APPLICATION_ID}; COMMIT`);
  }
  const version = Number(database.prepare('SELECT version FROM schema_version').get()?.version);
  if (version > MIGRATIONS.length) {
    throw new StoreError(
      'NEWER_SCHEMA',
      `${file} has schema version ${version}, this release knows ${MIGRATIONS.length}: start the newer release that wrote it, or ${BEGIN_ANEW}`,
    );
  }
  for (let step = version; step < MIGRATIONS.length; step++) {
    database.exec(`BEGIN IMMEDIATE; ${MIGRATIONS[step]} UPDATE schema_version SET version = ${step + 1}; COMMIT`);
  }
}

function hasOurId(database: DatabaseSync): boolean {
  return database.prepare('PRAGMA application_id').get()?.application_id === APPLICATION_ID;
}

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { migrate, schemaVersion } from './sqlite-schema.ts';
import type { Change, Contents, LoggedChange, StorageKey, StoredRow } from './storage.ts';
import { StorageError } from './storage-error.ts';

/** SQLite's own default. */
const PAGE_BYTES = 4096;
/**
 * KiB of pages that SQLite keeps: only writes look at any, and what is not among them the kernel has. Its default, 2 MB for each
 * database, would be a quarter of what a small cluster takes.
 */
const CACHE_KIB = 256;
/** The log is cut down to this when it begins anew; it is longer only while a copy is made, or for one big commit. */
const LOG_BYTES = 16 * 1024 * 1024;
/** Somebody may look into the file, or copy it: what he locks, he locks for a moment. ms */
const OTHERS_MS = 100;
const WHERE = 'WHERE groupResource = ? AND namespace = ? AND name = ?';

/**
 * One open database that this process alone writes, and the statements on it. Everything here happens within a transaction
 * that the caller begins and finishes.
 */
export class SqliteConnection {
  readonly database: DatabaseSync;
  readonly #file: string;
  readonly #statements = new Map<string, StatementSync>();

  /** Migrates and configures `database`; closes it again where that fails. */
  constructor(database: DatabaseSync, file: string, maxBytes: number | undefined) {
    this.database = database;
    this.#file = file;
    try {
      schemaVersion(database, file); // Before anything of somebody else's is changed.
      database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = ${LOG_BYTES}`);
      database.exec('BEGIN IMMEDIATE; COMMIT');
      migrate(database, file);
      if (maxBytes !== undefined) database.exec(`PRAGMA max_page_count = ${Math.floor(maxBytes / PAGE_BYTES)}`);
      database.exec(`PRAGMA busy_timeout = ${OTHERS_MS}; PRAGMA cache_size = -${CACHE_KIB}`);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  begin(): void {
    this.#sql('BEGIN IMMEDIATE').run();
  }

  savepoint(): void {
    this.#sql('SAVEPOINT write').run();
  }

  releaseSavepoint(): void {
    this.#sql('RELEASE write').run();
  }

  rollbackToSavepoint(): void {
    this.#sql('ROLLBACK TO write').run();
    this.#sql('RELEASE write').run();
  }

  /** False where the expected revision is not what is there; then nothing was done. */
  apply(change: Change, at: { revision: number; value: Buffer; time: number }): boolean {
    return change.expected === 0 ? this.#insert(change, at) : this.#replace(change, at);
  }

  /** 0 where there is no such object. */
  revisionOf({ groupResource, namespace, name }: StorageKey): number {
    const row = this.#sql(`SELECT revision FROM object ${WHERE}`).get(groupResource, namespace, name);
    return Number(row?.revision ?? 0);
  }

  /** Commits, with the newest revision given, and with the log cut up to `cutBefore`. */
  finish(revision: number, cutBefore: number | undefined): void {
    this.#sql(`UPDATE state SET value = ? WHERE key = 'revision'`).run(revision);
    if (cutBefore !== undefined) {
      this.#sql('DELETE FROM event WHERE revision <= ?').run(cutBefore);
      this.#sql(`UPDATE state SET value = max(value, ?) WHERE key = 'compacted'`).run(cutBefore);
    }
    this.#sql('COMMIT').run();
  }

  rollback(): void {
    if (this.database.isTransaction) this.#sql('ROLLBACK').run();
  }

  readObjects(onObject: (object: StoredRow) => void): void {
    for (const row of this.#sql('SELECT groupResource, namespace, name, revision, value FROM object').iterate()) {
      onObject({ ...keyOf(row), revision: Number(row.revision), value: bytesOf(row.value, this.#file) });
    }
  }

  /** Leaves out changes from before `since`, in milliseconds since 1970. */
  readHistory(since: number): Contents {
    const forgotten = this.#sql('SELECT max(revision) AS value FROM event WHERE time < ?').get(since)?.value ?? 0;
    const compacted = Math.max(this.#state('compacted'), Number(forgotten));
    const history: LoggedChange[] = [];
    for (const row of this.#sql('SELECT * FROM event WHERE revision > ? ORDER BY revision').iterate(compacted)) {
      history.push({
        ...keyOf(row),
        type: row.type === 'delete' ? 'delete' : 'put',
        revision: Number(row.revision),
        time: Number(row.time),
        previous: row.previous === null ? undefined : bytesOf(row.previous, this.#file),
      });
    }
    return { revision: this.#state('revision'), compacted, history };
  }

  close(): void {
    this.database.close();
  }

  #insert(change: Change, { revision, value, time }: { revision: number; value: Buffer; time: number }): boolean {
    const { groupResource, namespace, name, type } = change;
    if (type === 'delete') return false;
    const insert = this.#sql(
      'INSERT INTO object (groupResource, namespace, name, revision, value) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
    );
    if (insert.run(groupResource, namespace, name, revision, value).changes === 0) return false;
    const log = this.#sql('INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, NULL)');
    log.run(revision, groupResource, namespace, name, type, time);
    return true;
  }

  /** The log is written first: it takes the value that the change replaces, without a detour through this process. */
  #replace(change: Change, { revision, value, time }: { revision: number; value: Buffer; time: number }): boolean {
    const { groupResource, namespace, name, type, expected } = change;
    const log = this.#sql(
      `INSERT INTO event SELECT ?, groupResource, namespace, name, ?, ?, value FROM object ${WHERE} AND revision = ?`,
    );
    if (log.run(revision, type, time, groupResource, namespace, name, expected).changes === 0) return false;
    if (type === 'delete') this.#sql(`DELETE FROM object ${WHERE}`).run(groupResource, namespace, name);
    else
      this.#sql(`UPDATE object SET revision = ?, value = ? ${WHERE}`).run(
        revision,
        value,
        groupResource,
        namespace,
        name,
      );
    return true;
  }

  #state(key: string): number {
    return Number(this.#sql('SELECT value FROM state WHERE key = ?').get(key)?.value ?? 0);
  }

  #sql(text: string): StatementSync {
    let statement = this.#statements.get(text);
    if (!statement) {
      statement = this.database.prepare(text);
      this.#statements.set(text, statement);
    }
    return statement;
  }
}

function keyOf(row: Record<string, unknown>): StorageKey {
  return { groupResource: String(row.groupResource), namespace: String(row.namespace), name: String(row.name) };
}

function bytesOf(value: unknown, file: string): Buffer {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  throw new StorageError('CORRUPT', `${file} holds a value that is no object: restore it from a backup`);
}

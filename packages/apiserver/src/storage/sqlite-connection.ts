import { rmSync, writeFileSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { holderFile } from './sqlite-error.ts';
import { migrate } from './sqlite-schema.ts';
import type { Change, Contents, LoggedChange, StorageKey, StoredRow } from './storage.ts';
import { StorageError } from './storage-error.ts';

export interface ConnectionOptions {
  file: string;
  synchronous: 'NORMAL' | 'FULL';
  maxBytes?: number | undefined;
}

/** SQLite's own default. */
const PAGE_BYTES = 4096;
const WHERE = 'WHERE groupResource = ? AND namespace = ? AND name = ?';

/**
 * One open database that this process has for itself, and the statements on it. Everything here happens within a transaction
 * that the caller begins and finishes.
 */
export class SqliteConnection {
  readonly database: DatabaseSync;
  readonly #file: string;
  readonly #statements = new Map<string, StatementSync>();

  /** Locks, migrates and configures `database`; closes it again where that fails. */
  constructor(database: DatabaseSync, { file, synchronous, maxBytes }: ConnectionOptions) {
    this.database = database;
    this.#file = file;
    try {
      // EXCLUSIVE keeps the lock between transactions, which is the promise of "one process", and spares the -shm file.
      database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL');
      database.exec(`PRAGMA synchronous = ${synchronous}; BEGIN IMMEDIATE; COMMIT`);
      migrate(database, file);
      if (maxBytes !== undefined) database.exec(`PRAGMA max_page_count = ${Math.floor(maxBytes / PAGE_BYTES)}`);
      writeFileSync(holderFile(file), `${process.pid}\n`, { mode: 0o600 });
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

  /** The newest logged revision that is older than `time`, or 0. */
  newestBefore(time: number): number {
    const first = this.#sql('SELECT revision FROM event WHERE time >= ? ORDER BY revision LIMIT 1').get(time);
    return first === undefined ? 0 : Number(first.revision) - 1;
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

  readAll(): Contents {
    const objects: StoredRow[] = [];
    for (const row of this.#sql('SELECT groupResource, namespace, name, revision, value FROM object').iterate()) {
      objects.push({ ...keyOf(row), revision: Number(row.revision), value: bytesOf(row.value, this.#file) });
    }
    const history: LoggedChange[] = [];
    for (const row of this.#sql('SELECT * FROM event ORDER BY revision').iterate()) {
      history.push({
        ...keyOf(row),
        type: row.type === 'delete' ? 'delete' : 'put',
        revision: Number(row.revision),
        time: Number(row.time),
        previous: row.previous === null ? undefined : bytesOf(row.previous, this.#file),
      });
    }
    return { revision: this.#state('revision'), compacted: this.#state('compacted'), objects, history };
  }

  close(): void {
    this.database.close();
    rmSync(holderFile(this.#file), { force: true });
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

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { checkDatabase } from './check-database.ts';
import { revisionAfterLoss } from './revision-after-loss.ts';
import { eventChecksum, rowChecksum, stateChecksum } from './row-checksum.ts';
import { migrate, schemaVersion } from './sqlite-schema.ts';
import type { Change, Contents, LoggedChange, StoredRow } from './storage.ts';
import type { StorageKey } from '../contract/object-change.ts';

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
  readonly #statements = new Map<string, StatementSync>();
  readonly #maxPages: number | undefined;

  /** Migrates and configures `database`; closes it again where that fails. */
  constructor(database: DatabaseSync, file: string, maxBytes: number | undefined) {
    this.database = database;
    try {
      schemaVersion(database, file); // Before anything of somebody else's is changed.
      database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = ${LOG_BYTES}`);
      database.exec('BEGIN IMMEDIATE; COMMIT');
      checkDatabase(database, file);
      migrate(database, file);
      this.#maxPages = maxBytes === undefined ? undefined : Math.floor(maxBytes / PAGE_BYTES);
      this.limit(0);
      database.exec(`PRAGMA busy_timeout = ${OTHERS_MS}; PRAGMA cache_size = -${CACHE_KIB}`);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** Lets the file grow to its limit and `further` bytes. */
  limit(further: number): void {
    if (this.#maxPages === undefined) return;
    this.database.exec(`PRAGMA max_page_count = ${this.#maxPages + Math.floor(further / PAGE_BYTES)}`);
  }

  /** How much is free within the file: writes use it before the file grows. */
  get freeBytes(): number {
    return Number(this.#sql('PRAGMA freelist_count').get()?.freelist_count ?? 0) * PAGE_BYTES;
  }

  /** Moves what it can of the log into the file, so that the log can begin again. */
  checkpoint(): void {
    this.#sql('PRAGMA wal_checkpoint(PASSIVE)').all();
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
    if (change.discards) return this.#discard(change, at);
    return change.expected === 0 ? this.#insert(change, at) : this.#replace(change, at);
  }

  /** 0 where there is no such object. */
  revisionOf({ groupResource, namespace, name }: StorageKey): number {
    const row = this.#sql(`SELECT revision FROM object ${WHERE}`).get(groupResource, namespace, name);
    return Number(row?.revision ?? 0);
  }

  /** Commits, with the newest revision given, and with the log cut up to `cutBefore`. */
  finish(revision: number, cutBefore: number | undefined): void {
    const set = this.#sql('UPDATE state SET value = ?, checksum = ? WHERE key = ? AND value < ?');
    set.run(revision, stateChecksum('revision', revision), 'revision', revision);
    if (cutBefore !== undefined) {
      this.#sql('DELETE FROM event WHERE revision <= ?').run(cutBefore);
      set.run(cutBefore, stateChecksum('compacted', cutBefore), 'compacted', cutBefore);
    }
    this.#sql('COMMIT').run();
  }

  rollback(): void {
    if (this.database.isTransaction) this.#sql('ROLLBACK').run();
  }

  /** Every row goes to one of the two: rows that are not as they were written go to `onDamaged`. */
  readObjects(onObject: (object: StoredRow) => void, onDamaged: (row: StorageKey) => void): void {
    const rows = this.#sql('SELECT groupResource, namespace, name, revision, value, checksum FROM object');
    rows.setReadBigInts(true); // A damaged number may be larger than JavaScript's.
    for (const row of rows.iterate()) {
      const object = objectOf(row);
      if (object) onObject(object);
      else onDamaged(keyOf(row));
    }
  }

  /**
   * Leaves out changes from before `since`, in milliseconds since 1970. If any of the log is damaged, all of it is left out; if the
   * counter of revisions is, it is counted from `newest`, the newest revision of an object.
   */
  readHistory(since: number, { newest, now }: { newest: number; now: number }): Contents {
    const notes: string[] = [];
    let [revision, compacted] = [this.#state('revision'), this.#state('compacted')];
    if (revision === undefined || compacted === undefined || revision < newest || compacted > revision) {
      revision = compacted = this.#recount(newest, now);
      notes.push(`its counter of revisions is damaged: it continues at ${revision}, and watches begin again`);
    }
    const forgotten = this.#sql('SELECT max(revision) AS value FROM event WHERE time < ?');
    forgotten.setReadBigInts(true);
    const from = Math.min(Math.max(compacted, Number(forgotten.get(since)?.value ?? 0)), revision);
    const history = this.#readEvents(from, revision);
    if (!history) notes.push('its log of past changes is damaged: watches begin again');
    return { revision, compacted: history ? from : revision, history: history ?? [], notes };
  }

  /** All changes after one revision up to another; undefined if one is missing or damaged. */
  #readEvents(from: number, to: number): LoggedChange[] | undefined {
    const history: LoggedChange[] = [];
    const rows = this.#sql('SELECT * FROM event WHERE revision > ? ORDER BY revision');
    rows.setReadBigInts(true);
    for (const row of rows.iterate(from)) {
      const change = changeOf(row);
      if (change?.revision !== from + history.length + 1) return undefined;
      history.push(change);
    }
    return from + history.length === to ? history : undefined;
  }

  /** A revision that was never given, as far as this database knows. */
  #recount(newest: number, now: number): number {
    const revision = revisionAfterLoss(newest, now);
    const put = this.database.prepare('INSERT OR REPLACE INTO state (key, value, checksum) VALUES (?, ?, ?)');
    for (const key of ['revision', 'compacted']) put.run(key, revision, stateChecksum(key, revision));
    return revision;
  }

  close(): void {
    this.database.close();
  }

  #insert(change: Change, { revision, value, time }: { revision: number; value: Buffer; time: number }): boolean {
    const { groupResource, namespace, name, type } = change;
    if (type === 'delete') return false;
    const insert = this.#sql(
      'INSERT INTO object (groupResource, namespace, name, revision, value, checksum) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
    );
    const checksum = rowChecksum(change, revision, value);
    if (insert.run(groupResource, namespace, name, revision, value, checksum).changes === 0) return false;
    const log = this.#sql('INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, NULL, 0, NULL, ?)');
    const logged = eventChecksum({ revision, groupResource, namespace, name, type, time, expected: 0 });
    log.run(revision, groupResource, namespace, name, type, time, logged);
    return true;
  }

  /**
   * The log is written first: it takes the value that the change replaces, with its checksum, without a detour through this process.
   */
  #replace(change: Change, { revision, value, time }: { revision: number; value: Buffer; time: number }): boolean {
    const { groupResource, namespace, name, type, expected } = change;
    const log = this.#sql(
      `INSERT INTO event SELECT ?, groupResource, namespace, name, ?, ?, value, revision, checksum, ? FROM object ${WHERE} AND revision = ?`,
    );
    const logged = eventChecksum({ revision, groupResource, namespace, name, type, time, expected });
    const { changes } = log.run(revision, type, time, logged, groupResource, namespace, name, expected);
    if (changes === 0) return false;
    if (type === 'delete') this.#sql(`DELETE FROM object ${WHERE}`).run(groupResource, namespace, name);
    else
      this.#sql(`UPDATE object SET revision = ?, value = ?, checksum = ? ${WHERE}`).run(
        revision,
        value,
        rowChecksum(change, revision, value),
        groupResource,
        namespace,
        name,
      );
    return true;
  }

  /** Deletes a damaged row. Its value is not logged: nobody could read it. */
  #discard(change: Change, { revision, time }: { revision: number; time: number }): boolean {
    const { groupResource, namespace, name } = change;
    const gone = this.#sql(`DELETE FROM object ${WHERE}`).run(groupResource, namespace, name);
    if (gone.changes === 0) return false;
    const logged = eventChecksum({ revision, groupResource, namespace, name, type: 'delete', time, expected: 0 });
    const log = this.#sql('INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, NULL, 0, NULL, ?)');
    log.run(revision, groupResource, namespace, name, 'delete', time, logged);
    return true;
  }

  /** Undefined if the row is missing or damaged. */
  #state(key: string): number | undefined {
    const read = this.#sql('SELECT value, checksum FROM state WHERE key = ?');
    read.setReadBigInts(true);
    const row = read.get(key);
    const isIntact = typeof row?.value === 'bigint' && BigInt(stateChecksum(key, row.value)) === row.checksum;
    return isIntact ? Number(row.value) : undefined;
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

export function keyOf(row: Row): StorageKey {
  return { groupResource: String(row.groupResource), namespace: String(row.namespace), name: String(row.name) };
}

type Row = Record<string, unknown>;

/** The object of a row whose numbers are read as bigint; undefined where the row is not as it was written. */
export function objectOf(row: Row): StoredRow | undefined {
  const { revision, value, checksum } = row;
  const key = keyOf(row);
  return isIntact(key, { revision, value, checksum })
    ? { ...key, revision: Number(revision), value: bufferOf(value as Uint8Array) }
    : undefined;
}

function changeOf(row: Row): LoggedChange | undefined {
  const { revision, time, expected, previous, previousChecksum } = row;
  const type = row.type === 'delete' ? 'delete' : 'put';
  if (typeof revision !== 'bigint' || typeof time !== 'bigint' || typeof expected !== 'bigint') return undefined;
  const key = keyOf(row);
  if (BigInt(eventChecksum({ ...key, revision, time, expected, type: String(row.type) })) !== row.checksum) {
    return undefined;
  }
  const isNew = expected === 0n && previous === null;
  if (!isNew && !isIntact(key, { revision: expected, value: previous, checksum: previousChecksum })) return undefined;
  const before = isNew ? undefined : bufferOf(previous as Uint8Array);
  return { ...key, type, revision: Number(revision), time: Number(time), previous: before };
}

function isIntact(key: StorageKey, { revision, value, checksum }: Row): boolean {
  if (typeof revision !== 'bigint' || !(value instanceof Uint8Array)) return false;
  return BigInt(rowChecksum(key, revision, value)) === checksum;
}

function bufferOf(value: Uint8Array): Buffer {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

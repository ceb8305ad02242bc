import { chmodSync, closeSync, existsSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import { sqliteFault } from '@asterism/machinery';
import { StoreError } from '../store-error.ts';
import { migrate, requireOurs } from './schema.ts';
import { holderFile, storeErrorOf } from './sqlite-error.ts';

export type SqlRow = Record<string, SQLOutputValue>;

/** A file that is open, and locked until it is closed. What goes wrong is a StoreError that names the file. */
export class Connection {
  readonly #file: string;
  readonly #statements = new Map<string, StatementSync>();
  #database: DatabaseSync | undefined;

  private constructor(file: string, database: DatabaseSync) {
    this.#file = file;
    this.#database = database;
  }

  /** @throws StoreError, of which `LOCKED` may pass. */
  static open(file: string, maxBytes?: number): Connection {
    try {
      if (!isInMemory(file)) closeSync(openSync(file, 'a', 0o600));
      return new Connection(file, prepareDatabase(file, maxBytes));
    } catch (error) {
      throw storeErrorOf(error, file);
    }
  }

  /** What `sql` gives or, of a write, returns. The statement is kept: for texts of a small number only. */
  all(sql: string, ...parameters: SQLInputValue[]): SqlRow[] {
    return this.#guard((database) => this.#statement(database, sql).all(...parameters));
  }

  get(sql: string, ...parameters: SQLInputValue[]): SqlRow | undefined {
    return this.#guard((database) => this.#statement(database, sql).get(...parameters));
  }

  /** @returns the rows that changed. */
  run(sql: string, ...parameters: SQLInputValue[]): number {
    return this.#guard((database) => Number(this.#statement(database, sql).run(...parameters).changes));
  }

  /** As `all`, for a text that hardly comes twice. */
  allOnce(sql: string, parameters: readonly SQLInputValue[]): SqlRow[] {
    return this.#guard((database) => database.prepare(sql).all(...parameters));
  }

  /** All that `write` does, or, when it throws, nothing of it. */
  transaction<T>(write: () => T): T {
    return this.#guard((database) => {
      database.exec('BEGIN IMMEDIATE');
      try {
        const result = write();
        database.exec('COMMIT');
        return result;
      } catch (error) {
        // A full disk has SQLite itself roll back.
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      }
    });
  }

  /** Cuts free pages off the end of the file, at most so many. @returns whether there are more. */
  reclaim(pages: number): boolean {
    return this.#guard((database) => {
      // `exec` makes one step of it, which is one page: it gives a row for each.
      database.prepare(`PRAGMA incremental_vacuum(${pages})`).all();
      const left = Number(database.prepare('PRAGMA freelist_count').get()?.['freelist_count'] ?? 0);
      if (left > 0) return true;
      if (!isInMemory(this.#file)) database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      return false;
    });
  }

  /** Writes that would make the file larger are refused. */
  limit(bytes: number): void {
    this.#guard((database) => database.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(bytes / PAGE_BYTES))}`));
  }

  close(): void {
    const database = this.#database;
    this.#database = undefined;
    this.#statements.clear();
    if (!database) return;
    database.close();
    if (!isInMemory(this.#file)) rmSync(holderFile(this.#file), { force: true });
  }

  #statement(database: DatabaseSync, sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) this.#statements.set(sql, (statement = database.prepare(sql)));
    return statement;
  }

  #guard<T>(use: (database: DatabaseSync) => T): T {
    if (!this.#database) throw new StoreError('CLOSED', `${this.#file} is closed: open it again`);
    try {
      return use(this.#database);
    } catch (error) {
      throw storeErrorOf(error, this.#file);
    }
  }
}

function prepareDatabase(file: string, maxBytes: number | undefined): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 0, enableForeignKeyConstraints: true });
  try {
    // EXCLUSIVE keeps the lock between transactions: one process at a time, and no -shm file.
    database.exec('PRAGMA locking_mode = EXCLUSIVE');
    requireOurs(database, file);
    makeReclaimable(database);
    if (!isInMemory(file)) keepPrivate(file);
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = ${MAX_LOG_BYTES};
      BEGIN IMMEDIATE; COMMIT`);
    migrate(database, file);
    if (maxBytes !== undefined) database.exec(`PRAGMA max_page_count = ${Math.floor(maxBytes / PAGE_BYTES)}`);
    if (!isInMemory(file)) writeFileSync(holderFile(file), `${process.pid}\n`, { mode: 0o600 });
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Free pages can be given back, without the database being written anew. A file that was made otherwise is rewritten once. */
function makeReclaimable(database: DatabaseSync): void {
  const incremental = 2;
  if (database.prepare('PRAGMA auto_vacuum').get()?.['auto_vacuum'] === incremental) return;
  database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  if (!database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get()) return;
  try {
    database.exec('VACUUM');
  } catch (error) {
    // It stays as it was, and does not shrink.
    if (sqliteFault(error) !== 'full') throw error;
  }
}

/** SQLite's own default. */
const PAGE_BYTES = 4096;

/** The -wal file is cut to this when it has grown larger in one transaction. */
const MAX_LOG_BYTES = 64 * 1024 * 1024;

/** Objects may be confidential. A log that SQLite makes has the mode of its database. */
function keepPrivate(file: string): void {
  for (const name of [file, `${file}-wal`]) if (existsSync(name)) chmodSync(name, 0o600);
}

function isInMemory(file: string): boolean {
  return file === ':memory:';
}

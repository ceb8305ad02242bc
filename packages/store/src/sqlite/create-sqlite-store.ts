import { setTimeout as delay } from 'node:timers/promises';
import type { SearchStore } from '../search-store.ts';
import { isStoreError } from '../store-error.ts';
import { Connection } from './connection.ts';
import { SqliteStore } from './sqlite-store.ts';

export interface SqliteStoreOptions {
  /** Path of the database, or `:memory:`. */
  file: string;
  /** How long to wait for a process that is about to let go of the file, ms. Default 1000. */
  lockTimeoutMs?: number | undefined;
  /** The database does not grow above this, rounded to whole pages: writes are refused as if the disk were full. */
  maxBytes?: number | undefined;
}

/**
 * Opens the store, making or migrating its tables. The file gets mode 0600. One process at a time has it.
 *
 * @throws StoreError `LOCKED`, `CORRUPT`, `FOREIGN`, `NEWER_SCHEMA`, `NO_SPACE`, `NO_ACCESS`: the message names the file and the
 *   remedy.
 */
export async function createSqliteStore(options: SqliteStoreOptions): Promise<SearchStore> {
  const { file, lockTimeoutMs = 1000 } = options;
  for (let waitedMs = 0; ; waitedMs += LOCK_RETRY_MS) {
    try {
      return new SqliteStore(Connection.open(file, options.maxBytes));
    } catch (error) {
      if (!isStoreError(error, 'LOCKED') || waitedMs >= lockTimeoutMs) throw error;
    }
    await delay(LOCK_RETRY_MS);
  }
}

const LOCK_RETRY_MS = 50;

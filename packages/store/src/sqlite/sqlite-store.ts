import { setImmediate } from 'node:timers/promises';
import type { Query, QueryResult } from '../query/query.ts';
import type { Source } from '../row.ts';
import type { Changes, Replacement, SearchStore, SourceState, Usage, WriteCount } from '../search-store.ts';
import { usageOf, withinShare } from './cluster-share.ts';
import type { Connection } from './connection.ts';
import { ensureSource, findSource, listSources, type SourceRow } from './sources.ts';
import { SqliteReplacement } from './sqlite-replacement.ts';
import { deleteKeys, upsertNewer } from './write-rows.ts';

/** Of 4 KiB: what is given back in some ten milliseconds. */
const RECLAIM_PAGES = 1_000;
/** Rows that are deleted in some ten milliseconds. */
const DROPPED_AT_ONCE = 500;

/** The store over one connection. SQLite runs within the call, so a transaction never waits for another. */
export class SqliteStore implements SearchStore {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async source({ cluster, group, version, resource }: Source): Promise<SourceState> {
    const source = { cluster, group, version, resource };
    return findSource(this.#connection, source)?.state ?? source;
  }

  async sources(cluster?: string): Promise<SourceState[]> {
    return listSources(this.#connection, cluster).map(({ state }) => state);
  }

  async beginReplace(source: Source, { resume = false }: { resume?: boolean } = {}): Promise<Replacement> {
    return SqliteReplacement.begin(this.#connection, source, resume);
  }

  async applyChanges(source: Source, { upserts = [], deletes = [], watermark, share }: Changes): Promise<WriteCount> {
    return this.#connection.transaction(() => {
      const target = ensureSource(this.#connection, source);
      const write = () => {
        const put = upsertNewer(this.#connection, target, upserts);
        return { put, gone: deleteKeys(this.#connection, target, deletes) };
      };
      const { put, gone } = withinShare(this.#connection, target, { share, replaces: false }, write);
      if (watermark !== undefined) {
        this.#connection.run('UPDATE source SET watermark = ? WHERE id = ?', watermark, target.id);
      }
      return { written: put.written, unchanged: put.unchanged + gone.unchanged, deleted: gone.deleted };
    });
  }

  async query(query: Query): Promise<QueryResult> {
    // The query builder costs 25 MB and 0.2 s: a process that only writes does without.
    const { selectRows } = await import('./select-rows.ts');
    return selectRows(this.#connection, query);
  }

  async usage(cluster: string): Promise<Usage> {
    return usageOf(this.#connection, cluster);
  }

  async reclaim(): Promise<boolean> {
    return this.#connection.reclaim(RECLAIM_PAGES);
  }

  async limit(bytes: number): Promise<void> {
    this.#connection.limit(bytes);
  }

  async dropSource(source: Source): Promise<number> {
    const found = findSource(this.#connection, source);
    return found ? await this.#drop(found) : 0;
  }

  async dropCluster(cluster: string): Promise<number> {
    let rows = 0;
    for (const source of listSources(this.#connection, cluster)) rows += await this.#drop(source);
    return rows;
  }

  /**
   * In steps between which others get their turn, since there may be a million rows. The source goes last: what is interrupted is
   * done by the next call.
   */
  async #drop({ id, cluster, typeId }: SourceRow): Promise<number> {
    const connection = this.#connection;
    connection.run(
      'UPDATE source SET watermark = NULL, is_replacing = 0, replacement = replacement + 1 WHERE id = ?',
      id,
    );
    for (let rows = 0; ; await setImmediate()) {
      const gone = connection.transaction(() => {
        const some = 'SELECT id FROM object WHERE cluster = ? AND type_id = ? LIMIT ?';
        const deleted = connection.run(`DELETE FROM object WHERE id IN (${some})`, cluster, typeId, DROPPED_AT_ONCE);
        if (deleted < DROPPED_AT_ONCE) connection.run('DELETE FROM source WHERE id = ?', id);
        return deleted;
      });
      rows += gone;
      if (gone < DROPPED_AT_ONCE) return rows;
    }
  }

  async close(): Promise<void> {
    this.#connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

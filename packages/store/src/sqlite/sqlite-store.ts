import type { Query, QueryResult } from '../query/query.ts';
import type { Source } from '../row.ts';
import type { Changes, Replacement, SearchStore, SourceState, WriteCount } from '../search-store.ts';
import type { Connection } from './connection.ts';
import { ensureSource, findSource, listSources } from './sources.ts';
import { SqliteReplacement } from './sqlite-replacement.ts';
import { deleteKeys, upsertNewer } from './write-rows.ts';

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

  async applyChanges(source: Source, { upserts = [], deletes = [], watermark }: Changes): Promise<WriteCount> {
    return this.#connection.transaction(() => {
      const target = ensureSource(this.#connection, source);
      const put = upsertNewer(this.#connection, target, upserts);
      const gone = deleteKeys(this.#connection, target, deletes);
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

  async dropSource(source: Source): Promise<number> {
    return this.#connection.transaction(() => {
      const found = findSource(this.#connection, source);
      if (!found) return 0;
      const { id, cluster, typeId } = found;
      this.#connection.run('DELETE FROM source WHERE id = ?', id);
      return this.#connection.run('DELETE FROM object WHERE cluster = ? AND type_id = ?', cluster, typeId);
    });
  }

  async dropCluster(cluster: string): Promise<number> {
    return this.#connection.transaction(() => {
      this.#connection.run('DELETE FROM source WHERE cluster = ?', cluster);
      return this.#connection.run('DELETE FROM object WHERE cluster = ?', cluster);
    });
  }

  async close(): Promise<void> {
    this.#connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

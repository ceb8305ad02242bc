import type { ObjectRow, Source } from '../row.ts';
import type { Replacement, ReplaceProgress, Share, WriteCount } from '../search-store.ts';
import { StoreError } from '../store-error.ts';
import { withinShare } from './cluster-share.ts';
import type { Connection } from './connection.ts';
import { ensureSource, findSourceById, type SourceRow } from './sources.ts';
import { replaceRows } from './write-rows.ts';

/**
 * R1 A page marks each row that it brings with the generation of the replacement; a resumed replacement goes on with it.
 * R2 The end deletes what is not marked, and only then is there a watermark: from the first page on rows and the old one do not
 *    belong together any more.
 * R3 Of a source only the replacement that began last may write; none may where the source was dropped.
 */
export class SqliteReplacement implements Replacement {
  readonly progress: ReplaceProgress;
  readonly #connection: Connection;
  readonly #sourceId: number;
  readonly #source: Source;
  /** Which replacement of the source this is. */
  readonly #number: number;

  private constructor(connection: Connection, { id, replacement, state }: SourceRow) {
    this.#connection = connection;
    this.#sourceId = id;
    this.#source = state;
    this.#number = replacement;
    this.progress = state.replacing ?? {};
  }

  static begin(connection: Connection, source: Source, resume: boolean): SqliteReplacement {
    return connection.transaction(() => {
      const known = ensureSource(connection, source);
      if (resume && known.state.replacing) {
        connection.run('UPDATE source SET replacement = replacement + 1 WHERE id = ?', known.id);
      } else {
        connection.run(
          `UPDATE source SET replacement = replacement + 1, generation = generation + 1, is_replacing = 1,
             list_continue = NULL, list_resource_version = NULL
           WHERE id = ?`,
          known.id,
        );
      }
      return new SqliteReplacement(connection, ensureSource(connection, source));
    });
  }

  async add(rows: readonly ObjectRow[], progress: ReplaceProgress, share?: Share): Promise<WriteCount> {
    return this.#connection.transaction(() => {
      const source = this.#current();
      this.#connection.run(
        'UPDATE source SET watermark = NULL, list_continue = ?, list_resource_version = ? WHERE id = ?',
        progress.continue ?? null,
        progress.resourceVersion ?? null,
        source.id,
      );
      return withinShare(this.#connection, source, { share, replaces: true }, () =>
        replaceRows(this.#connection, source, rows, source.generation),
      );
    });
  }

  async finish(watermark: string): Promise<WriteCount> {
    return this.#connection.transaction(() => {
      const { id, cluster, typeId, generation } = this.#current();
      const deleted = this.#connection.run(
        'DELETE FROM object WHERE cluster = ? AND type_id = ? AND generation <> ?',
        cluster,
        typeId,
        generation,
      );
      this.#connection.run(
        `UPDATE source SET watermark = ?, is_replacing = 0, replacement = replacement + 1,
           list_continue = NULL, list_resource_version = NULL
         WHERE id = ?`,
        watermark,
        id,
      );
      return { written: 0, unchanged: 0, deleted };
    });
  }

  #current(): SourceRow {
    const source = findSourceById(this.#connection, this.#sourceId);
    if (source?.replacement === this.#number) return source;
    const { cluster, group, version, resource } = this.#source;
    const what = `${resource}.${version}.${group} of cluster ${JSON.stringify(cluster)}`;
    const why = source ? 'it was finished, or a later one began' : 'what is stored of it was dropped';
    throw new StoreError('SUPERSEDED', `this replacement of ${what} has no say any more: ${why}`);
  }
}

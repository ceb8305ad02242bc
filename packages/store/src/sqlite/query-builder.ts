import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';

/** The tables that queries read; see schema.ts. */
export interface Tables {
  object: {
    id: number;
    cluster: string;
    type_id: number;
    namespace: string;
    name: string;
    kind: string;
    uid: string;
    resource_version: string;
    owner_uid: string | null;
    created_at: number;
  };
  type: { id: number; group: string; version: string; resource: string };
  body: { object_id: number; object: Uint8Array };
}

/**
 * Kysely as the writer of statements, which a {@link Connection} then runs: through a driver of its own each query would wait for
 * several turns of the event loop, and the transaction of a write could come in between.
 */
export const builder = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

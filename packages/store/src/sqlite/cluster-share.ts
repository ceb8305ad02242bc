import type { Share, Usage } from '../search-store.ts';
import { StoreError } from '../store-error.ts';
import type { Connection } from './connection.ts';
import type { SourceRow } from './sources.ts';

/** What is stored of a cluster. */
export function usageOf(connection: Connection, cluster: string): Usage {
  const row = connection.get('SELECT rows, bytes FROM usage WHERE cluster = ?', cluster);
  return { rows: Number(row?.rows ?? 0), bytes: Number(row?.bytes ?? 0) };
}

/**
 * Runs a write within a transaction, and throws `OVER_SHARE`, which rolls it back, where it leaves the cluster with more than its
 * share. A write that adds nothing is always allowed.
 */
export function withinShare<T>(
  connection: Connection,
  source: SourceRow,
  { share, replaces }: { share: Share | undefined; replaces: boolean },
  write: () => T,
): T {
  if (!share) return write();
  const { cluster } = source;
  const before = usageOf(connection, cluster);
  const result = write();
  const after = usageOf(connection, cluster);
  const grew = after.rows > before.rows || after.bytes > before.bytes;
  if (!grew || fits(after, share)) return result;
  // Rows that the list has not brought yet are not counted: they may be deleted at its end.
  const old = replaces ? notBrought(connection, source) : { rows: 0, bytes: 0 };
  const rest = { rows: after.rows - old.rows, bytes: after.bytes - old.bytes };
  if (fits(rest, share)) return result;
  const message =
    `cluster ${JSON.stringify(cluster)} has more objects than its share of the search store ` +
    `(${share.rows} rows, ${share.bytes} bytes): index less of it, or give it a larger share`;
  throw new StoreError('OVER_SHARE', message);
}

function fits({ rows, bytes }: Usage, share: Share): boolean {
  return rows <= share.rows && bytes <= share.bytes;
}

function notBrought(connection: Connection, { cluster, typeId, generation }: SourceRow): Usage {
  const row = connection.get(
    `SELECT count(*) AS rows, ifnull(sum(bytes), 0) AS bytes FROM object
     WHERE cluster = ? AND type_id = ? AND generation <> ?`,
    cluster,
    typeId,
    generation,
  );
  return { rows: Number(row?.rows ?? 0), bytes: Number(row?.bytes ?? 0) };
}

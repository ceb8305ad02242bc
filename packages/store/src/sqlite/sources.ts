import type { Source } from '../row.ts';
import type { ReplaceProgress, SourceState } from '../search-store.ts';
import type { Connection, SqlRow } from './connection.ts';
import type { Target } from './write-rows.ts';

/** A row of the table of sources. */
export interface SourceRow extends Target {
  id: number;
  /** What the running replacement marks its rows with. */
  generation: number;
  /** Counts the replacements: the last one has it. */
  replacement: number;
  state: SourceState;
}

const SELECT = `SELECT s.*, t."group", t.version, t.resource FROM source AS s JOIN type AS t ON t.id = s.type_id`;

export function findSource(
  connection: Connection,
  { cluster, group, version, resource }: Source,
): SourceRow | undefined {
  const row = connection.get(
    `${SELECT} WHERE s.cluster = ? AND t."group" = ? AND t.version = ? AND t.resource = ?`,
    cluster,
    group,
    version,
    resource,
  );
  return row && sourceOf(row);
}

/** The source, made where it is missing. Within a transaction. */
export function ensureSource(connection: Connection, source: Source): SourceRow {
  const known = findSource(connection, source);
  if (known) return known;
  const { cluster, group, version, resource } = source;
  connection.run(
    'INSERT INTO type ("group", version, resource) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    group,
    version,
    resource,
  );
  connection.run(
    `INSERT INTO source (cluster, type_id)
     SELECT ?, id FROM type WHERE "group" = ? AND version = ? AND resource = ?`,
    cluster,
    group,
    version,
    resource,
  );
  return ensureSource(connection, source);
}

export function findSourceById(connection: Connection, id: number): SourceRow | undefined {
  const row = connection.get(`${SELECT} WHERE s.id = ?`, id);
  return row && sourceOf(row);
}

/** In the order of cluster, group, version and resource. */
export function listSources(connection: Connection, cluster: string | undefined): SourceRow[] {
  const order = 'ORDER BY s.cluster, t."group", t.version, t.resource';
  const rows =
    cluster === undefined
      ? connection.all(`${SELECT} ${order}`)
      : connection.all(`${SELECT} WHERE s.cluster = ? ${order}`, cluster);
  return rows.map(sourceOf);
}

function sourceOf(row: SqlRow): SourceRow {
  const cluster = String(row.cluster);
  const watermark = textOf(row.watermark);
  const replacing: ReplaceProgress = {
    ...(typeof row.list_continue === 'string' ? { continue: row.list_continue } : {}),
    ...(row.list_resource_version === null ? {} : { resourceVersion: String(row.list_resource_version) }),
  };
  return {
    id: Number(row.id),
    cluster,
    typeId: Number(row.type_id),
    generation: Number(row.generation),
    replacement: Number(row.replacement),
    state: {
      cluster,
      group: String(row.group),
      version: String(row.version),
      resource: String(row.resource),
      ...(watermark === undefined ? {} : { watermark }),
      ...(row.is_replacing === 1 ? { replacing } : {}),
    },
  };
}

function textOf(value: SqlRow[string] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

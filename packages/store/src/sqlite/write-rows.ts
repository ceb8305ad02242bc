import type { SQLInputValue } from 'node:sqlite';
import type { DeletedKey, ObjectKey, ObjectRow } from '../row.ts';
import { isOlder } from '../resource-version.ts';
import type { WriteCount } from '../search-store.ts';
import { StoreError } from '../store-error.ts';
import type { Connection, SqlRow } from './connection.ts';
import { isConstraintError } from './sqlite-error.ts';

/** A source as the tables know it. */
export interface Target {
  cluster: string;
  typeId: number;
}

/** Rows in one statement, the largest first: so that a batch of any size needs few statements, and these are few. */
const STATEMENT_ROWS = [64, 16, 4, 1] as const;

/**
 * Writes changes: a row that is the same or newer is left alone. Within a transaction, as all that is here.
 *
 * @throws StoreError `INVALID_ROW`.
 */
export function upsertNewer(connection: Connection, target: Target, rows: readonly ObjectRow[]): WriteCount {
  const count = { written: 0, unchanged: 0, deleted: 0 };
  for (const part of withoutRepetition(rows)) {
    const stored = new Map(lookUp(connection, target, part).map((row) => [keyOf(row), row]));
    const wanted = part.filter((row) => {
      const there = stored.get(keyOf(row));
      return !there || !(isSameVersion(there, row) || isOlder(row.resourceVersion, there.resourceVersion));
    });
    put(connection, target, wanted, stored, 0);
    count.written += wanted.length;
    count.unchanged += part.length - wanted.length;
  }
  return count;
}

/** Writes a page of a list: each row as it is, whatever is stored; and marks it as brought by `generation`. */
export function replaceRows(
  connection: Connection,
  target: Target,
  rows: readonly ObjectRow[],
  generation: number,
): WriteCount {
  const count = { written: 0, unchanged: 0, deleted: 0 };
  for (const part of withoutRepetition(rows)) {
    const stored = new Map(lookUp(connection, target, part, true).map((row) => [keyOf(row), row]));
    const same: number[] = [];
    const wanted = part.filter((row) => {
      const there = stored.get(keyOf(row));
      const isSame = there !== undefined && isSameRow(there, row);
      if (isSame) same.push(there.id);
      return !isSame;
    });
    put(connection, target, wanted, stored, generation);
    connection.run(
      'UPDATE object SET generation = ? WHERE id IN (SELECT value FROM json_each(?))',
      generation,
      JSON.stringify(same),
    );
    count.written += wanted.length;
    count.unchanged += same.length;
  }
  return count;
}

/** Deletes what is not newer than the deletion. */
export function deleteKeys(connection: Connection, target: Target, keys: readonly DeletedKey[]): WriteCount {
  const count = { written: 0, unchanged: 0, deleted: 0 };
  for (const part of withoutRepetition(keys)) {
    const stored = new Map(lookUp(connection, target, part).map((row) => [keyOf(row), row]));
    const ids: number[] = [];
    for (const key of part) {
      const there = stored.get(keyOf(key));
      if (!there) continue;
      if (key.resourceVersion !== undefined && isOlder(key.resourceVersion, there.resourceVersion)) count.unchanged++;
      else ids.push(there.id);
    }
    count.deleted += connection.run(
      'DELETE FROM object WHERE id IN (SELECT value FROM json_each(?))',
      JSON.stringify(ids),
    );
  }
  return count;
}

interface Found extends ObjectKey {
  id: number;
  kind: string;
  uid: string;
  resourceVersion: string;
  ownerUid: string | undefined;
  createdAt: number;
  labels: Readonly<Record<string, string>>;
  /** Only when asked for. */
  object: Uint8Array | undefined;
}

/** What is stored under these keys. */
function lookUp(connection: Connection, target: Target, keys: readonly ObjectKey[], withObject = false): Found[] {
  if (keys.length === 0) return [];
  const rows = connection.all(
    `SELECT o.id, o.namespace, o.name, o.kind, o.uid, o.resource_version, o.owner_uid, o.created_at,
       (SELECT json_group_object(l.key, l.value) FROM label AS l WHERE l.object_id = o.id) AS labels
       ${withObject ? ', (SELECT b.object FROM body AS b WHERE b.object_id = o.id) AS object' : ''}
     FROM json_each(?) AS wanted CROSS JOIN object AS o
       ON o.cluster = ? AND o.type_id = ? AND o.namespace = wanted.value ->> 0 AND o.name = wanted.value ->> 1`,
    JSON.stringify(keys.map(({ namespace, name }) => [namespace, name])),
    target.cluster,
    target.typeId,
  );
  return rows.map(foundOf);
}

function foundOf(row: SqlRow): Found {
  return {
    id: Number(row.id),
    namespace: String(row.namespace),
    name: String(row.name),
    kind: String(row.kind),
    uid: String(row.uid),
    resourceVersion: String(row.resource_version),
    ownerUid: row.owner_uid === null ? undefined : String(row.owner_uid),
    createdAt: Number(row.created_at),
    labels: JSON.parse(String(row.labels)) as Record<string, string>,
    object: row.object instanceof Uint8Array ? row.object : undefined,
  };
}

/** Puts rows in, in place of what is `stored` under their keys. */
function put(
  connection: Connection,
  target: Target,
  rows: readonly ObjectRow[],
  stored: ReadonlyMap<string, Found>,
  generation: number,
): void {
  for (const row of rows) checkRow(row);
  for (const chunk of chunks(rows)) {
    const ids = upsert(connection, target, chunk, generation);
    const written = chunk.map((row) => ({ row, id: ids.get(keyOf(row)) ?? 0 }));
    putBodies(connection, written);
    putLabels(
      connection,
      written.filter(({ row }) => !haveSameLabels(stored.get(keyOf(row))?.labels ?? {}, row.labels ?? {})),
    );
  }
}

interface Written {
  id: number;
  row: ObjectRow;
}

/** Statements of these sizes only, so that they are few and can be kept. */
function* chunks(rows: readonly ObjectRow[]): Generator<readonly ObjectRow[]> {
  let from = 0;
  for (const size of STATEMENT_ROWS) {
    for (; from + size <= rows.length; from += size) yield rows.slice(from, from + size);
  }
}

/** @returns ids by key. */
function upsert(
  connection: Connection,
  { cluster, typeId }: Target,
  rows: readonly ObjectRow[],
  generation: number,
): Map<string, number> {
  const values = rows.flatMap((row): SQLInputValue[] => {
    const { namespace, name, kind, uid, resourceVersion, ownerUid = null, createdAt } = row;
    const bytes = lengthOf(row.object);
    return [cluster, typeId, namespace, name, kind, uid, resourceVersion, ownerUid, createdAt, generation, bytes];
  });
  const returned = connection.all(
    `INSERT INTO object
       (cluster, type_id, namespace, name, kind, uid, resource_version, owner_uid, created_at, generation, bytes)
     VALUES ${tuples(rows.length, 11)}
     ON CONFLICT (cluster, type_id, namespace, name) DO UPDATE SET
       kind = excluded.kind, uid = excluded.uid, resource_version = excluded.resource_version,
       owner_uid = excluded.owner_uid, created_at = excluded.created_at,
       generation = max(generation, excluded.generation), bytes = excluded.bytes
     RETURNING id, namespace, name`,
    ...values,
  );
  return new Map(
    returned.map(({ id, namespace, name }) => [
      keyOf({ namespace: String(namespace), name: String(name) }),
      Number(id),
    ]),
  );
}

function putBodies(connection: Connection, written: readonly Written[]): void {
  try {
    connection.run(
      `INSERT INTO body (object_id, object) VALUES ${tuples(written.length, 2)}
       ON CONFLICT (object_id) DO UPDATE SET object = excluded.object`,
      ...written.flatMap(({ id, row }): SQLInputValue[] => [id, bytesOf(row.object)]),
    );
  } catch (error) {
    const culprit = isConstraintError(error) ? written.find(({ row }) => !isJson(connection, row)) : undefined;
    throw culprit ? invalidRow(culprit.row, 'object: it is no JSON') : error;
  }
}

function isJson(connection: Connection, row: ObjectRow): boolean {
  return connection.get('SELECT json_valid(CAST(? AS TEXT)) AS valid', bytesOf(row.object))?.valid === 1;
}

function putLabels(connection: Connection, written: readonly Written[]): void {
  if (written.length === 0) return;
  connection.run(
    'DELETE FROM label WHERE object_id IN (SELECT value FROM json_each(?))',
    JSON.stringify(written.map(({ id }) => id)),
  );
  const labels = written.flatMap(({ id, row }) =>
    Object.entries(row.labels ?? {}).map(([key, value]) => [id, key, value]),
  );
  connection.run(
    'INSERT INTO label SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)',
    JSON.stringify(labels),
  );
}

function tuples(count: number, width: number): string {
  const tuple = `(${Array.from({ length: width }, () => '?').join(', ')})`;
  return Array.from({ length: count }, () => tuple).join(', ');
}

function isSameVersion(stored: Found, row: ObjectRow): boolean {
  return stored.resourceVersion === row.resourceVersion && stored.uid === row.uid;
}

function isSameRow(stored: Found, row: ObjectRow): boolean {
  return (
    isSameVersion(stored, row) &&
    stored.kind === row.kind &&
    stored.ownerUid === row.ownerUid &&
    stored.createdAt === row.createdAt &&
    haveSameLabels(stored.labels, row.labels ?? {}) &&
    bytesOf(row.object).equals(stored.object ?? EMPTY)
  );
}

const EMPTY = new Uint8Array();

function haveSameLabels(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const entries = Object.entries(a);
  return entries.length === Object.keys(b).length && entries.every(([key, value]) => b[key] === value);
}

function lengthOf(object: Uint8Array | string): number {
  return typeof object === 'string' ? Buffer.byteLength(object) : object.length;
}

function bytesOf(object: Uint8Array | string): Buffer {
  return typeof object === 'string'
    ? Buffer.from(object)
    : Buffer.from(object.buffer, object.byteOffset, object.byteLength);
}

function keyOf({ namespace, name }: ObjectKey): string {
  return `${namespace}\0${name}`;
}

/** Cuts before each key that is there a second time, so that a part has no key twice and the order of writes stays. */
function* withoutRepetition<T extends ObjectKey>(rows: readonly T[]): Generator<readonly T[]> {
  let part: T[] = [];
  const seen = new Set<string>();
  for (const row of rows) {
    const key = keyOf(row);
    if (seen.has(key)) {
      yield part;
      part = [];
      seen.clear();
    }
    part.push(row);
    seen.add(key);
  }
  if (part.length > 0) yield part;
}

/** @throws StoreError `INVALID_ROW` that names the row and the part. Whether the object is JSON the database finds out. */
function checkRow(row: ObjectRow): void {
  if (row.name === '') throw invalidRow(row, 'name: it is empty');
  if (!Number.isSafeInteger(row.createdAt)) {
    throw invalidRow(row, `createdAt: ${row.createdAt} is no whole number of milliseconds`);
  }
}

function invalidRow({ kind, namespace, name }: ObjectRow, why: string): StoreError {
  const key = namespace === '' ? name : `${namespace}/${name}`;
  return new StoreError('INVALID_ROW', `${kind} ${JSON.stringify(key)}: ${why}`);
}

import type { SQLInputValue } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { type CompiledQuery, type RawBuilder, type SqlBool, sql } from 'kysely';
import { type CheckedQuery, checkQuery } from '../query/check-query.ts';
import { continueBehind, type Position, positionAt, positionOf } from '../query/continue-token.ts';
import type { Query, QueryResult, ResourceFilter } from '../query/query.ts';
import type { StoredRow } from '../row.ts';
import type { Connection, SqlRow } from './connection.ts';
import { fieldCondition } from './field-condition.ts';
import { labelCondition } from './label-condition.ts';
import { builder } from './query-builder.ts';
import { isBehind, orderBy, orderTerms } from './row-order.ts';
import { SearchSteps } from './search-steps.ts';

type Condition = RawBuilder<SqlBool>;

/** Answers a query. @throws StoreError `INVALID_QUERY`, `INVALID_CONTINUE`. */
export async function selectRows(connection: Connection, query: Query): Promise<QueryResult> {
  const checked = checkQuery(query);
  const position = positionOf(checked);
  const conditions = conditionsOf(checked, findTypes(connection, checked.resources));
  const inObject = fieldConditions(checked);
  const found =
    inObject.length === 0
      ? run(connection, pageQuery(checked, conditions, position)).map(storedRowOf)
      : query.orderBy?.length
        ? await findThenSort(connection, checked, { conditions, inObject, position })
        : await findInSteps(connection, checked, { conditions, inObject, position });
  const rows = found.slice(0, checked.limit);
  const last = rows.at(-1);
  const hasMore = found.length > rows.length && last !== undefined;
  const remaining = (): number =>
    hasMore ? countBehind(connection, checked, [...conditions, ...inBody(inObject)], last) : 0;
  return {
    rows,
    ...(hasMore ? { continue: continueBehind(checked, last) } : {}),
    ...(checked.countRemaining ? { remaining: remaining() } : {}),
  };
}

/** The page, and one row more to know whether there is more. Bytes are fetched for these alone, not for all that is sorted. */
function pageQuery(
  query: CheckedQuery,
  conditions: readonly Condition[],
  position: Position | undefined,
): CompiledQuery {
  const limit = query.limit === undefined ? undefined : query.limit + 1;
  return rowsOf(query, conditions, position, limit).select('b.object').compile();
}

/**
 * What fits also in its object, which takes parsing each. SQLite runs within the call, so this goes step by step along the
 * default order, which an index has. A row that changes meanwhile is found as it is when its turn comes.
 */
async function findInSteps(
  connection: Connection,
  query: CheckedQuery,
  { conditions, inObject, position: from }: Wanted,
): Promise<StoredRow[]> {
  const found: StoredRow[] = [];
  const steps = new SearchSteps();
  let position = from;
  for (;;) {
    const { rows } = steps;
    const step = rowsOf(query, conditions, position, rows).select('b.object');
    steps.time(() => {
      for (const row of run(connection, step.where((on) => on.and(inObject)).compile())) found.push(storedRowOf(row));
      position = endOfStep(connection, query, { conditions, position }, rows);
    });
    if (!position || found.length > (query.limit ?? Number.POSITIVE_INFINITY)) return found;
    await setImmediate();
  }
}

/** For an order that no index has: the ids of all that fit, step by step along the default order, and then the page of these. */
async function findThenSort(
  connection: Connection,
  query: CheckedQuery,
  { conditions, inObject, position }: Wanted,
): Promise<StoredRow[]> {
  const ids: number[] = [];
  const steps = new SearchSteps();
  const inTurn = checkQuery({ ...query, orderBy: [], continue: undefined });
  let at: Position | undefined;
  do {
    const { rows } = steps;
    const step = rowsOf(inTurn, conditions, at, rows)
      .select('o.id')
      .where((on) => on.and(inObject));
    steps.time(() => {
      for (const { id } of run(connection, step.compile())) ids.push(Number(id));
      at = endOfStep(connection, inTurn, { conditions, position: at }, rows);
    });
    await setImmediate();
  } while (at);
  const found = sql<SqlBool>`o.id in (select value from json_each(${JSON.stringify(ids)}))`;
  return run(connection, pageQuery(query, [found], position)).map(storedRowOf);
}

/** What has to hold of a row, and of its object; and behind which place. */
interface Wanted {
  conditions: readonly Condition[];
  inObject: readonly Condition[];
  position: Position | undefined;
}

/** Where the next step begins; undefined when there is none. Read without the objects, from the index. */
function endOfStep(
  connection: Connection,
  query: CheckedQuery,
  { conditions, position }: Pick<Wanted, 'conditions' | 'position'>,
  rows: number,
): Position | undefined {
  const [last] = run(
    connection,
    idsOf(query, conditions, position, 1)
      .offset(rows - 1)
      .select(['o.namespace', 'o.name', 'o.cluster', 't.group', 't.version', 't.resource'])
      .compile(),
  );
  return last && query.orderBy.map(({ field }) => String(last[field]));
}

function rowsOf(
  query: CheckedQuery,
  conditions: readonly Condition[],
  position: Position | undefined,
  limit: number | undefined,
) {
  return builder
    .selectFrom('object as o')
    .innerJoin('type as t', 't.id', 'o.type_id')
    .innerJoin('body as b', 'b.object_id', 'o.id')
    .where('o.id', 'in', idsOf(query, conditions, position, limit))
    .select(['o.cluster', 't.group', 't.version', 't.resource', 'o.kind', 'o.namespace', 'o.name', 'o.uid'])
    .select(['o.resource_version', 'o.owner_uid', 'o.created_at'])
    .orderBy(orderBy(orderTerms(query, position)));
}

function idsOf(
  query: CheckedQuery,
  conditions: readonly Condition[],
  position: Position | undefined,
  limit: number | undefined,
) {
  const terms = orderTerms(query, position);
  let ids = matching(conditions).select('o.id').orderBy(orderBy(terms));
  if (position) ids = ids.where(isBehind(terms));
  if (limit !== undefined) ids = ids.limit(limit);
  return ids;
}

function countBehind(
  connection: Connection,
  query: CheckedQuery,
  conditions: readonly Condition[],
  last: StoredRow,
): number {
  const position = positionAt(query, last);
  const behind = matching(conditions).where(isBehind(orderTerms(query, position)));
  const [row] = run(connection, behind.select(sql`count(*)`.as('count')).compile());
  return Number(row?.count);
}

function matching(conditions: readonly Condition[]) {
  return builder
    .selectFrom('object as o')
    .leftJoin('type as t', 't.id', 'o.type_id')
    .where((on) => on.and(conditions));
}

function conditionsOf(query: CheckedQuery, types: readonly number[] | undefined): Condition[] {
  const { clusters, namespaces, names, nameContains = [], uids, ownerUids, labels = [] } = query;
  const conditions: Condition[] = [];
  if (types) conditions.push(sql`o.type_id in (${sql.join(types.map((id) => sql.lit(id)))})`);
  if (clusters) conditions.push(isOneOf(sql`o.cluster`, clusters));
  if (namespaces) conditions.push(isOneOf(sql`o.namespace`, namespaces));
  if (names) conditions.push(isOneOf(sql`o.name`, names));
  for (const part of nameContains) conditions.push(sql`instr(lower(o.name), lower(${part})) > 0`);
  if (uids) conditions.push(isOneOf(sql`o.uid`, uids));
  if (ownerUids) conditions.push(isOneOf(sql`o.owner_uid`, ownerUids));
  if (query.since !== undefined) conditions.push(sql`o.created_at >= ${query.since}`);
  if (query.before !== undefined) conditions.push(sql`o.created_at < ${query.before}`);
  for (const label of labels) conditions.push(labelCondition(label, sql`o.id`));
  return conditions;
}

/** The conditions on an object, `body as b`. */
function fieldConditions({ fields = [] }: CheckedQuery): Condition[] {
  return fields.map((field) => fieldCondition(field, sql`cast(b.object as text)`));
}

/** The same as a condition on the object's row. */
function inBody(conditions: readonly Condition[]): Condition[] {
  if (conditions.length === 0) return [];
  return [sql`exists (select 1 from body as b where b.object_id = o.id and ${sql.join(conditions, sql` and `)})`];
}

/** One is worth an equation, which the planner knows more to do with. */
function isOneOf(column: RawBuilder<unknown>, values: readonly string[]): Condition {
  if (values.length === 1) return sql`${column} = ${values[0]}`;
  return sql`${column} in (select value from json_each(${JSON.stringify(values)}))`;
}

/** Types that any of the filters allows; undefined for all. */
function findTypes(connection: Connection, filters: readonly ResourceFilter[] | undefined): number[] | undefined {
  if (!filters) return undefined;
  return connection
    .all('SELECT * FROM type ORDER BY id')
    .filter((type) =>
      filters.some(
        ({ group, version, resource }) =>
          type.group === group &&
          (version === undefined || type.version === version) &&
          (resource === undefined || type.resource === resource),
      ),
    )
    .map(({ id }) => Number(id));
}

function run(connection: Connection, { sql: text, parameters }: CompiledQuery): SqlRow[] {
  return connection.allOnce(text, parameters as SQLInputValue[]);
}

function storedRowOf(row: SqlRow): StoredRow {
  return {
    cluster: String(row.cluster),
    group: String(row.group),
    version: String(row.version),
    resource: String(row.resource),
    kind: String(row.kind),
    namespace: String(row.namespace),
    name: String(row.name),
    uid: String(row.uid),
    resourceVersion: String(row.resource_version),
    ownerUid: row.owner_uid === null ? undefined : String(row.owner_uid),
    createdAt: Number(row.created_at),
    object: row.object as Uint8Array,
  };
}

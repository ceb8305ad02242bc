import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { CheckedQuery } from '../query/check-query.ts';
import type { Position } from '../query/continue-token.ts';
import type { OrderField } from '../query/query.ts';

/** One step of the order: what SQL sorts by, and its value at the position that the answer goes on behind. */
export interface OrderTerm {
  column: RawBuilder<unknown>;
  descending: boolean;
  value: string | number | undefined;
}

/**
 * The order of a query over `object as o` and `type as t`. What the query itself holds fast is left out: rows do not differ in
 * it, and an index serves the rest.
 */
export function orderTerms(query: CheckedQuery, position: Position | undefined): OrderTerm[] {
  const fixed = fixedFields(query);
  return query.orderBy.flatMap(({ field, descending }, index) => {
    if (fixed.has(field)) return [];
    const value = position?.[index];
    if (field !== 'resourceVersion') return [{ column: COLUMNS[field], descending, value }];
    const length = typeof value === 'string' ? Buffer.byteLength(value) : undefined;
    return [
      { column: sql`octet_length(o.resource_version)`, descending, value: length },
      { column: COLUMNS[field], descending, value },
    ];
  });
}

/** The rows behind the position. */
export function isBehind(terms: readonly OrderTerm[]): RawBuilder<SqlBool> {
  const [first, ...rest] = terms;
  if (!first) return sql`false`;
  const operator = sql.raw(first.descending ? '<' : '>');
  if (terms.every(({ descending }) => descending === first.descending)) {
    // A row value is what an index can be entered with.
    const columns = sql.join(terms.map(({ column }) => column));
    return sql`(${columns}) ${operator} (${sql.join(terms.map(({ value }) => sql`${value}`))})`;
  }
  const { column, value } = first;
  return sql`${column} ${operator}= ${value} and (${column} ${operator} ${value} or ${isBehind(rest)})`;
}

export function orderBy(terms: readonly OrderTerm[]): RawBuilder<unknown> {
  if (terms.length === 0) return sql`o.id`;
  return sql.join(terms.map(({ column, descending }) => sql`${column} ${sql.raw(descending ? 'desc' : 'asc')}`));
}

const COLUMNS: Readonly<Record<OrderField, RawBuilder<unknown>>> = {
  cluster: sql`o.cluster`,
  namespace: sql`o.namespace`,
  name: sql`o.name`,
  group: sql`t."group"`,
  version: sql`t.version`,
  resource: sql`t.resource`,
  kind: sql`o.kind`,
  uid: sql`o.uid`,
  createdAt: sql`o.created_at`,
  resourceVersion: sql`o.resource_version`,
};

function fixedFields({ clusters, resources, namespaces, names }: CheckedQuery): ReadonlySet<OrderField> {
  const fixed = new Set<OrderField>();
  if (clusters?.length === 1) fixed.add('cluster');
  if (namespaces?.length === 1) fixed.add('namespace');
  if (names?.length === 1) fixed.add('name');
  const type = resources?.length === 1 ? resources[0] : undefined;
  if (type) fixed.add('group');
  if (type?.version !== undefined) fixed.add('version');
  if (type?.resource !== undefined) fixed.add('resource');
  return fixed;
}

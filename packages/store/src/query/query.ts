import type { StoredRow } from '../row.ts';
import type { FieldPath } from './field-path.ts';

/** Rows of these resources: a whole group, or one version or resource of it. */
export interface ResourceFilter {
  group: string;
  version?: string | undefined;
  resource?: string | undefined;
}

/**
 * One condition on a label, as in a Kubernetes selector. A missing label satisfies `!=`, `notin` and `!exists`. `gt` and `lt`
 * compare integers: a value that is none does not match.
 */
export interface LabelRequirement {
  key: string;
  operator: LabelOperator;
  /** None for `exists` and `!exists`, one for `=`, `!=`, `gt`, `lt`, one or more for `in`, `notin`. */
  values: readonly string[];
}

export type LabelOperator = '=' | '!=' | 'in' | 'notin' | 'exists' | '!exists' | 'gt' | 'lt';

/**
 * One condition on the values that a path finds in the object.
 *
 * - A path with `[]` finds several: `=`, `in`, `<`, `>`, `<=`, `>=` and `exists` ask for one that fits; `!=`, `notin` and
 *   `!exists` are their negations, so a missing field satisfies them.
 * - JSON `null` is a missing field. An object or an array exists but equals nothing.
 * - A JSON number is compared as a number with a value that is one (`10` = `10.0`), a string as text, byte by byte (so RFC 3339
 *   times compare), a boolean with `true` or `false`.
 */
export interface FieldRequirement {
  /** `.status.phase`, `.spec.containers[].image`, `.metadata.annotations['a.b/c']`, or parsed. */
  path: string | FieldPath;
  operator: FieldOperator;
  /** None for `exists` and `!exists`, one for comparisons, one or more for `in`, `notin`. */
  values: readonly string[];
}

export type FieldOperator = '=' | '!=' | 'in' | 'notin' | 'exists' | '!exists' | '<' | '<=' | '>' | '>=';

export type OrderField =
  | 'cluster'
  | 'namespace'
  | 'name'
  | 'group'
  | 'version'
  | 'resource'
  | 'kind'
  | 'uid'
  | 'createdAt'
  | 'resourceVersion';

export interface Order {
  field: OrderField;
  descending?: boolean | undefined;
}

/** All conditions hold at once. An absent condition allows everything; an empty list allows nothing. */
export interface Query {
  clusters?: readonly string[] | undefined;
  resources?: readonly ResourceFilter[] | undefined;
  namespaces?: readonly string[] | undefined;
  names?: readonly string[] | undefined;
  /** Parts that the name contains, all of them, letters of either case. */
  nameContains?: readonly string[] | undefined;
  uids?: readonly string[] | undefined;
  ownerUids?: readonly string[] | undefined;
  labels?: readonly LabelRequirement[] | undefined;
  fields?: readonly FieldRequirement[] | undefined;
  /** `createdAt` from here on, milliseconds since the epoch. */
  since?: number | undefined;
  /** `createdAt` before this. */
  before?: number | undefined;
  /** Default: namespace, name, cluster. Rows that are equal in all of it still have a stable order. */
  orderBy?: readonly Order[] | undefined;
  /** Rows in one answer. Absent: all. */
  limit?: number | undefined;
  /** From the answer before; the rest of the query must be the same. */
  continue?: string | undefined;
  /** Asks for `remaining`, which costs a count. */
  countRemaining?: boolean | undefined;
}

export interface QueryResult {
  rows: StoredRow[];
  /** Goes on behind the last row, wherever that is by then; absent when there is nothing more. */
  continue?: string;
  /** Matching rows behind the last one. Only when asked for. */
  remaining?: number;
}

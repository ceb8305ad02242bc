import { StoreError } from '../store-error.ts';
import { type FieldPath, parseFieldPath } from './field-path.ts';
import { QUERY_LIMITS } from './query-limits.ts';
import type {
  FieldOperator,
  FieldRequirement,
  LabelOperator,
  LabelRequirement,
  Order,
  OrderField,
  Query,
} from './query.ts';

/** A query that an implementation can rely on: paths are parsed, the order is total. */
export interface CheckedQuery extends Query {
  fields?: readonly CheckedFieldRequirement[] | undefined;
  /** Ends with the fields that make it the only possible order. */
  orderBy: readonly Required<Order>[];
}

export interface CheckedFieldRequirement extends FieldRequirement {
  path: FieldPath;
}

/** Behind what was asked for; together these name a row. */
const LAST_ORDER: readonly OrderField[] = ['namespace', 'name', 'cluster', 'group', 'version', 'resource'];

const ORDER_FIELDS: ReadonlySet<string> = new Set<OrderField>([
  ...LAST_ORDER,
  'kind',
  'uid',
  'createdAt',
  'resourceVersion',
]);

/** How many values an operator takes. */
const NONE = { least: 0, most: 0 };
const ONE = { least: 1, most: 1 };
const SOME = { least: 1, most: QUERY_LIMITS.values };

const LABEL_OPERATORS: Readonly<Record<LabelOperator, typeof NONE>> = {
  '=': ONE,
  '!=': ONE,
  in: SOME,
  notin: SOME,
  exists: NONE,
  '!exists': NONE,
  gt: ONE,
  lt: ONE,
};

const FIELD_OPERATORS: Readonly<Record<FieldOperator, typeof NONE>> = {
  '=': ONE,
  '!=': ONE,
  in: SOME,
  notin: SOME,
  exists: NONE,
  '!exists': NONE,
  '<': ONE,
  '<=': ONE,
  '>': ONE,
  '>=': ONE,
};

/** What `gt` and `lt` compare with: within 64 bits, as in Kubernetes. */
const INTEGER = /^-?\d{1,18}$/;

/** @throws StoreError `INVALID_QUERY` that names the part and says what is wrong with it. */
export function checkQuery(query: Query): CheckedQuery {
  const { limit, since, before, labels = [], fields = [], nameContains = [] } = query;
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0)) {
    throw invalid(`limit: ${limit} is not a positive whole number`);
  }
  requireTime('since', since);
  requireTime('before', before);
  requireFew('labels', 'conditions', labels.length, QUERY_LIMITS.labels);
  requireFew('fields', 'conditions', fields.length, QUERY_LIMITS.fields);
  requireFew('nameContains', 'parts', nameContains.length, QUERY_LIMITS.nameParts);
  for (const label of labels) checkLabel(label);
  return { ...query, fields: query.fields?.map(checkField), orderBy: totalOrder(query.orderBy ?? []) };
}

function checkLabel({ key, operator, values }: LabelRequirement): void {
  const where = `labels: ${JSON.stringify(key)}`;
  requireValues(where, operator, values, LABEL_OPERATORS);
  if ((operator === 'gt' || operator === 'lt') && !INTEGER.test(values[0] ?? '')) {
    throw invalid(`${where}: ${operator} compares with an integer, and ${JSON.stringify(values[0])} is none`);
  }
}

function checkField(requirement: FieldRequirement): CheckedFieldRequirement {
  const { operator, values } = requirement;
  if (typeof requirement.path === 'string') requirePathLength(requirement.path);
  const path = typeof requirement.path === 'string' ? parseFieldPath(requirement.path) : requirement.path;
  const where = `fields: ${JSON.stringify(requirement.path)}`;
  const arrays = path.filter((segment) => 'each' in segment).length;
  requireFew(where, '[]', arrays, QUERY_LIMITS.arraysInPath);
  requireFew(where, 'segments', path.length, QUERY_LIMITS.pathSegments);
  requireValues(where, operator, values, FIELD_OPERATORS);
  return { path, operator, values };
}

function requireValues(
  where: string,
  operator: string,
  values: readonly string[],
  operators: Readonly<Record<string, typeof NONE>>,
): void {
  const count = Object.hasOwn(operators, operator) ? operators[operator] : undefined;
  if (!count) {
    throw invalid(`${where}: ${JSON.stringify(operator)} is none of the operators ${Object.keys(operators).join(' ')}`);
  }
  if (values.length < count.least || values.length > count.most) {
    if (values.length > count.most && count === SOME)
      throw invalid(tooMany(where, 'values', values.length, count.most));
    const takes = count === NONE ? 'no value' : count === ONE ? 'one value' : 'one value or more';
    throw invalid(`${where}: ${operator} takes ${takes}, not ${values.length}`);
  }
}

function requirePathLength(path: string): void {
  if (path.length <= QUERY_LIMITS.pathLength) return;
  const start = JSON.stringify(path.slice(0, 64));
  throw invalid(`fields: ${start}… has ${path.length} characters: at most ${QUERY_LIMITS.pathLength} are allowed`);
}

function requireFew(where: string, what: string, count: number, most: number): void {
  if (count > most) throw invalid(tooMany(where, what, count, most));
}

function tooMany(where: string, what: string, count: number, most: number): string {
  const shown = where.length > 200 ? `${where.slice(0, 200)}…` : where;
  return `${shown}: ${count} ${what} are too many: at most ${most} are allowed`;
}

function requireTime(name: string, time: number | undefined): void {
  if (time !== undefined && !Number.isFinite(time)) throw invalid(`${name}: ${time} is no time in milliseconds`);
}

function totalOrder(asked: readonly Order[]): Required<Order>[] {
  const order = new Map<OrderField, boolean>();
  for (const { field, descending = false } of asked) {
    if (!ORDER_FIELDS.has(field)) {
      throw invalid(`orderBy: ${JSON.stringify(field)} is none of ${[...ORDER_FIELDS].join(', ')}`);
    }
    if (order.has(field)) throw invalid(`orderBy: ${field} is there twice`);
    order.set(field, descending);
  }
  for (const field of LAST_ORDER) if (!order.has(field)) order.set(field, false);
  return Array.from(order, ([field, descending]) => ({ field, descending }));
}

function invalid(message: string): StoreError {
  return new StoreError('INVALID_QUERY', message);
}

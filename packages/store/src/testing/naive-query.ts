import { type FieldPath, parseFieldPath } from '../query/field-path.ts';
import type { FieldRequirement, LabelRequirement, OrderField, Query } from '../query/query.ts';
import type { ObjectRow, Source } from '../row.ts';

export type NaiveRow = Source & ObjectRow;

/** What a query means, said again without a database: all rows that match, in order, from the first to the last. */
export function naiveQuery(rows: Iterable<NaiveRow>, query: Query): NaiveRow[] {
  const order = [
    ...(query.orderBy ?? []),
    ...(['namespace', 'name', 'cluster', 'group', 'version', 'resource'] as const).map((field) => ({ field })),
  ];
  return [...rows]
    .filter((row) => matches(row, query))
    .toSorted((a, b) => {
      for (const { field, ...direction } of order) {
        const difference = compareField(field, a, b);
        if (difference !== 0) return 'descending' in direction && direction.descending ? -difference : difference;
      }
      return 0;
    });
}

function matches(row: NaiveRow, query: Query): boolean {
  const isIn = (values: readonly string[] | undefined, value: string): boolean => !values || values.includes(value);
  return (
    isIn(query.clusters, row.cluster) &&
    isIn(query.namespaces, row.namespace) &&
    isIn(query.names, row.name) &&
    isIn(query.uids, row.uid) &&
    (!query.ownerUids || (row.ownerUid !== undefined && query.ownerUids.includes(row.ownerUid))) &&
    (!query.resources ||
      query.resources.some(
        ({ group, version = row.version, resource = row.resource }) =>
          group === row.group && version === row.version && resource === row.resource,
      )) &&
    (query.nameContains ?? []).every((part) => row.name.toLowerCase().includes(part.toLowerCase())) &&
    (query.since === undefined || row.createdAt >= query.since) &&
    (query.before === undefined || row.createdAt < query.before) &&
    (query.labels ?? []).every((requirement) => matchesLabel(requirement, row.labels ?? {})) &&
    (query.fields ?? []).every((requirement) => matchesField(requirement, JSON.parse(String(row.object))))
  );
}

function matchesLabel({ key, operator, values }: LabelRequirement, labels: Readonly<Record<string, string>>): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  const isThere = value !== undefined;
  const isInteger = isThere && /^-?\d+$/.test(value);
  switch (operator) {
    case '=':
    case 'in':
      return isThere && values.includes(value);
    case '!=':
    case 'notin':
      return !isThere || !values.includes(value);
    case 'exists':
      return isThere;
    case '!exists':
      return !isThere;
    case 'gt':
      return isInteger && BigInt(value) > BigInt(values[0] ?? 0);
    case 'lt':
      return isInteger && BigInt(value) < BigInt(values[0] ?? 0);
  }
}

function matchesField({ path, operator, values }: FieldRequirement, object: unknown): boolean {
  const found = valuesAt(typeof path === 'string' ? parseFieldPath(path) : path, object);
  const some = (test: (difference: number) => boolean): boolean =>
    found.some((value) => values.some((wanted) => test(compareValue(value, wanted))));
  switch (operator) {
    case '=':
    case 'in':
      return some((difference) => difference === 0);
    case '!=':
    case 'notin':
      return !some((difference) => difference === 0);
    case 'exists':
      return found.length > 0;
    case '!exists':
      return found.length === 0;
    case '<':
      return some((difference) => difference < 0);
    case '<=':
      return some((difference) => difference <= 0);
    case '>':
      return some((difference) => difference > 0);
    case '>=':
      return some((difference) => difference >= 0);
  }
}

function valuesAt(path: FieldPath, value: unknown): unknown[] {
  const [segment, ...rest] = path;
  if (value === null || value === undefined) return [];
  if (!segment) return [value];
  if (typeof value !== 'object') return [];
  if (Array.isArray(value)) {
    if ('each' in segment) return value.flatMap((element) => valuesAt(rest, element));
    return 'index' in segment ? valuesAt(rest, value[segment.index]) : [];
  }
  if (!('key' in segment) || !Object.hasOwn(value, segment.key)) return [];
  return valuesAt(rest, (value as Record<string, unknown>)[segment.key]);
}

/** NaN where the two cannot be compared. */
function compareValue(value: unknown, wanted: string): number {
  if (typeof value === 'string') return compareText(value, wanted);
  if (typeof value === 'boolean') {
    return wanted === 'true' || wanted === 'false' ? Number(value) - Number(wanted === 'true') : Number.NaN;
  }
  if (typeof value !== 'number' || !/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(wanted)) return Number.NaN;
  return value - Number(wanted);
}

function compareField(field: OrderField, a: NaiveRow, b: NaiveRow): number {
  if (field === 'createdAt') return a.createdAt - b.createdAt;
  const byLength = field === 'resourceVersion' ? a.resourceVersion.length - b.resourceVersion.length : 0;
  return byLength || compareText(a[field], b[field]);
}

function compareText(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

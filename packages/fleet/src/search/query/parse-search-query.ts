import {
  badRequest,
  failure,
  isStatusError,
  type LabelRequirement as Requirement,
  parseLabelSelector,
} from '@asterism/machinery';
import type { FieldRequirement, LabelOperator, LabelRequirement, Order, OrderField } from '@asterism/store';
import { parseFieldSelector } from './parse-field-selector.ts';
import type { ObjectsPath } from './parse-search-path.ts';

/** What of an object a Table carries beside its cells. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** What a request asks for, path and parameters together. Lists are never empty. */
export interface SearchParameters {
  /** Absent: all. */
  clusters?: string[];
  /** Absent: all, and what lives in none. */
  namespaces?: string[];
  names?: string[];
  labels?: LabelRequirement[];
  fields?: FieldRequirement[];
  orderBy?: Order[];
  /** Absent: everything in one answer. */
  limit?: number;
  continue?: string;
  includeObject: IncludeObject;
}

const LIST_PARAMETERS: readonly string[] = [
  'clusters',
  'namespaces',
  'names',
  'labelSelector',
  'fieldSelector',
  'orderby',
  'limit',
  'continue',
];
/** Those behind the first say nothing about what is found; clients send them all the same. */
const OBJECT_PARAMETERS: readonly string[] = [
  'includeObject',
  'resourceVersion',
  'resourceVersionMatch',
  'pretty',
  'timeout',
  'timeoutSeconds',
];

/** What a list can be ordered by: never a text of the caller's in a query. */
const ORDER_FIELDS: readonly OrderField[] = [
  'cluster',
  'namespace',
  'name',
  'group',
  'version',
  'resource',
  'kind',
  'uid',
  'createdAt',
  'resourceVersion',
];

/** Characters of a selector or an order. */
const LONGEST_PARAMETER = 32 * 1024;
/** Names in one parameter. */
const MOST_NAMES = 1_000;

const LABEL_OPERATORS: Readonly<Record<Requirement['operator'], LabelOperator>> = {
  '=': '=',
  '!=': '!=',
  in: 'in',
  notin: 'notin',
  exists: 'exists',
  notexists: '!exists',
  '>': 'gt',
  '<': 'lt',
};

/**
 * Reads the parameters of a search.
 *
 * @throws StatusError 400 that names the parameter, what is wrong with it and what would be right: for an unknown one, one that
 *   is there twice, and a value that cannot be read; 405 for a watch.
 */
export function parseSearchQuery(query: URLSearchParams, path: ObjectsPath): SearchParameters {
  requireKnown(query, path);
  requireNow(query);
  return {
    ...present('clusters', fromPath(path.cluster) ?? readNames(query, 'clusters')),
    ...present('namespaces', fromPath(path.namespace) ?? readNames(query, 'namespaces')),
    ...present('names', fromPath(path.name) ?? readNames(query, 'names')),
    ...present('labels', read(query, 'labelSelector', readLabelSelector)),
    ...present('fields', read(query, 'fieldSelector', parseFieldSelector)),
    ...present('orderBy', read(query, 'orderby', readOrder)),
    ...present('limit', read(query, 'limit', readLimit)),
    ...present('continue', query.get('continue') || undefined),
    includeObject: readIncludeObject(query.get('includeObject') ?? ''),
  };
}

function requireKnown(query: URLSearchParams, { cluster, namespace, name }: ObjectsPath): void {
  const known = name === undefined ? [...LIST_PARAMETERS, ...OBJECT_PARAMETERS] : OBJECT_PARAMETERS;
  for (const parameter of new Set(query.keys())) {
    if (parameter === 'watch' || parameter === 'allowWatchBookmarks') continue;
    if (!known.includes(parameter)) {
      const what = name === undefined ? 'a search' : 'one object';
      throw badRequest(`${JSON.stringify(parameter)} is no parameter of ${what}: it has ${known.join(', ')}`);
    }
    if (query.getAll(parameter).length > 1) {
      throw badRequest(
        `${parameter} is there twice: of several values it takes one, separated by commas where it is a list`,
      );
    }
  }
  if (cluster !== undefined && query.has('clusters')) {
    throw badRequest(`clusters: the path is of cluster ${JSON.stringify(cluster)} alone: leave the parameter out`);
  }
  if (namespace !== undefined && query.has('namespaces')) {
    throw badRequest(
      `namespaces: the path is of namespace ${JSON.stringify(namespace)} alone: leave the parameter out`,
    );
  }
}

/** Search knows the present alone. */
function requireNow(query: URLSearchParams): void {
  const watch = query.get('watch');
  if (watch !== null && watch !== '0' && watch !== 'false') {
    throw failure(405, 'watch: search answers get and list; ask again to see what has changed');
  }
  const resourceVersion = query.get('resourceVersion') ?? '';
  if (resourceVersion !== '' && resourceVersion !== '0') {
    throw badRequest(
      `resourceVersion: ${JSON.stringify(resourceVersion)}: the objects are of several clusters, which have no version in ` +
        'common: leave it out',
    );
  }
}

function fromPath(value: string | undefined): string[] | undefined {
  return value === undefined ? undefined : [value];
}

/** A list that is there has a name in it: an empty one (of a variable that was not set) must not mean everything. */
function readNames(query: URLSearchParams, parameter: string): string[] | undefined {
  const text = query.get(parameter);
  if (text === null) return undefined;
  const names = text.split(',').map((name) => name.trim());
  if (names.includes('')) {
    throw badRequest(`${parameter}: ${JSON.stringify(text)} has an empty name in it: leave the parameter out for all`);
  }
  if (names.length > MOST_NAMES)
    throw badRequest(`${parameter}: ${names.length} are too many: at most ${MOST_NAMES} are allowed`);
  return [...new Set(names)];
}

/** An empty text is no condition, as in Kubernetes. */
function read<V>(query: URLSearchParams, parameter: string, parse: (text: string) => V): V | undefined {
  const text = query.get(parameter) ?? '';
  if (text.length > LONGEST_PARAMETER) {
    throw badRequest(`${parameter} has ${text.length} characters: at most ${LONGEST_PARAMETER} are allowed`);
  }
  return text.trim() === '' ? undefined : parse(text);
}

function readLabelSelector(text: string): LabelRequirement[] {
  try {
    return parseLabelSelector(text).map(({ key, operator, values }) => ({
      key,
      operator: LABEL_OPERATORS[operator],
      values,
    }));
  } catch (error) {
    throw isStatusError(error) ? badRequest(`labelSelector ${JSON.stringify(text)}: ${error.message}`) : error;
  }
}

function readOrder(text: string): Order[] {
  const orders = text.split(',').map((part): Order => {
    const [name = '', direction = 'asc', ...more] = part.trim().split(/\s+/);
    const field = ORDER_FIELDS.find((candidate) => candidate === name);
    if (!field || more.length > 0 || (direction !== 'asc' && direction !== 'desc')) {
      throw badRequest(
        `orderby: ${JSON.stringify(part.trim())} is not FIELD, FIELD asc or FIELD desc with a FIELD of ` +
          ORDER_FIELDS.join(', '),
      );
    }
    return { field, descending: direction === 'desc' };
  });
  const twice = orders.find(({ field }, index) => orders.findIndex((other) => other.field === field) < index);
  if (twice) throw badRequest(`orderby: ${twice.field} is there twice`);
  return orders;
}

function readLimit(text: string): number | undefined {
  if (!/^\d{1,9}$/.test(text))
    throw badRequest(`limit: ${JSON.stringify(text)} is not a number of objects, 0 for no limit`);
  return Number(text) || undefined;
}

function readIncludeObject(text: string): IncludeObject {
  if (text === '') return 'Metadata';
  if (text === 'None' || text === 'Metadata' || text === 'Object') return text;
  throw badRequest(`includeObject: ${JSON.stringify(text)} is none of None, Metadata, Object`);
}

function present<K extends string, V>(name: K, value: V | undefined): { [P in K]?: V } {
  return (value === undefined ? {} : { [name]: value }) as { [P in K]?: V };
}

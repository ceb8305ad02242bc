import type { Json, KubeObject } from '../object.ts';
import { translateTimestampSince } from './format-age.ts';

/** A column as `meta.k8s.io/v1` describes it. Columns of a priority above 0 are for `-o wide`. */
export interface TableColumn {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  /** `name` marks the column that names the object; otherwise an OpenAPI format, or empty. */
  format: string;
  description: string;
  priority: number;
}

/** `Completed` marks a row that is over, such as a pod that has ended. */
export interface TableRowCondition {
  type: 'Completed';
  status: 'True' | 'False' | 'Unknown';
  reason?: string;
  message?: string;
}

export interface TableRow {
  /** A value for each column. */
  cells: Json[];
  conditions?: TableRowCondition[];
}

/** Knows how the objects of one kind look in a table. */
export interface TablePrinter {
  readonly columns: readonly TableColumn[];
  /** @param now milliseconds since 1970, from which ages are told */
  row(object: KubeObject, now: number): TableRow;
  /** The order of rows in a list, where it is not that of the objects. */
  readonly compare?: (a: KubeObject, b: KubeObject) => number;
}

/**
 * A column and how its cell is found, from the object or from a summary that the columns of a row share.
 */
export interface ColumnOf<T, S = unknown> {
  column: TableColumn;
  cell: (object: T, now: number, summary: S) => Json;
}

type Cell<T, S> = ColumnOf<T, S>['cell'];

export function definePrinter<T extends KubeObject>(columns: readonly ColumnOf<T>[]): TablePrinter {
  return defineSummarizingPrinter<T, undefined>(() => undefined, columns);
}

/**
 * @param summarize what several columns need, found once a row
 * @param conditions of the row, where it is over
 */
export function defineSummarizingPrinter<T extends KubeObject, S>(
  summarize: (object: T) => S,
  columns: readonly ColumnOf<T, S>[],
  conditions?: (object: T) => TableRowCondition[] | undefined,
): TablePrinter {
  return {
    columns: columns.map(({ column }) => column),
    row(object, now) {
      const summary = summarize(object as T);
      const cells = columns.map(({ cell }) => cell(object as T, now, summary));
      const found = conditions?.(object as T);
      return found ? { cells, conditions: found } : { cells };
    },
  };
}

export function text<T, S>(name: string, cell: Cell<T, S>): ColumnOf<T, S> {
  return { column: { name, type: 'string', format: '', description: '', priority: 0 }, cell };
}

export function integer<T, S>(name: string, cell: Cell<T, S>): ColumnOf<T, S> {
  return { column: { name, type: 'integer', format: '', description: '', priority: 0 }, cell };
}

export function boolean<T, S>(name: string, cell: Cell<T, S>): ColumnOf<T, S> {
  return { column: { name, type: 'boolean', format: '', description: '', priority: 0 }, cell };
}

/** Makes columns ones of `-o wide`. */
export function wide<T, S = unknown>(...columns: ColumnOf<T, S>[]): ColumnOf<T, S>[] {
  return columns.map(({ column, cell }) => ({ column: { ...column, priority: 1 }, cell }));
}

export const NAME: ColumnOf<KubeObject> = {
  column: { name: 'Name', type: 'string', format: 'name', description: '', priority: 0 },
  cell: ({ metadata }) => metadata?.name ?? '',
};

export const AGE: ColumnOf<KubeObject> = text('Age', ({ metadata }, now) =>
  translateTimestampSince(metadata?.creationTimestamp, now),
);

/** For kinds that nobody has made columns for. */
export const DEFAULT_PRINTER: TablePrinter = definePrinter([
  NAME,
  {
    column: { name: 'Created At', type: 'date', format: '', description: '', priority: 0 },
    cell: ({ metadata }) => metadata?.creationTimestamp ?? null,
  },
]);

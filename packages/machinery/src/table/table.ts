import type { Json, KubeObject, ListMeta } from '../object.ts';
import { builtinPrinter } from './builtin-printers.ts';
import type { TableColumn, TablePrinter, TableRow } from './table-printer.ts';

/** The answer of a server to `Accept: application/json;as=Table;v=v1;g=meta.k8s.io`. */
export interface Table {
  kind: 'Table';
  apiVersion: 'meta.k8s.io/v1';
  metadata: ListMeta;
  /** Left out in the events of a watch after the first. */
  columnDefinitions?: readonly TableColumn[];
  /** What `object` is, the request's `includeObject` decides. */
  rows: (TableRow & { object?: KubeObject })[];
}

export interface TableOptions {
  /** Milliseconds since 1970, from which ages are told. */
  now: number;
  /** False leaves the columns of `-o wide` out. A server sends them all and lets the client choose. Default true. */
  wide?: boolean;
}

/**
 * A table of objects, without the objects themselves.
 *
 * @param of a built-in kind, or the printer of another; kinds that nobody has made columns for show `Name` and `Created At`
 */
export function tableFor(
  of: { group: string; kind: string } | TablePrinter,
  objects: readonly KubeObject[],
  { now, wide = true }: TableOptions,
): Table {
  const printer = 'columns' in of ? of : builtinPrinter(of);
  const rows = objects.map((object) => printer.row(object, now));
  const table: Table = {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: {},
    columnDefinitions: printer.columns,
    rows,
  };
  return wide ? table : narrow(table, printer.columns);
}

function narrow(table: Table, columns: readonly TableColumn[]): Table {
  const shown = columns.map(({ priority }) => priority === 0);
  return {
    ...table,
    columnDefinitions: columns.filter((_, i) => shown[i]),
    rows: table.rows.map((row) => ({ ...row, cells: row.cells.filter((_: Json, i) => shown[i]) })),
  };
}

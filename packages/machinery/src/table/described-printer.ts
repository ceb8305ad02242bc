import { tableColumns } from '#platform';
import { once } from '../schema/once.ts';
import type { TableColumn, TablePrinter } from './table-printer.ts';

/** What Kubernetes 1.36 says of the columns of its own kinds: the texts of its API's documentation. */
interface ColumnTexts {
  name: string;
  age: string;
  /** By `group/Kind`, then by column. */
  kinds: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const columnTexts = once(() => tableColumns() as ColumnTexts);

/**
 * The printer with a description for each column that has none. The texts are read when columns are first asked for.
 *
 * @param kind `group/Kind` of a built-in kind
 */
export function describedPrinter(printer: TablePrinter, kind = ''): TablePrinter {
  return {
    ...printer,
    get columns() {
      return printer.columns.map((column) => describe(column, kind));
    },
  };
}

function describe(column: TableColumn, kind: string): TableColumn {
  if (column.description !== '') return column;
  const { name, age, kinds } = columnTexts();
  const own = Object.hasOwn(kinds, kind) ? kinds[kind]?.[column.name] : undefined;
  const shared = column.format === 'name' ? name : /^(?:Age|Created At)$/.test(column.name) ? age : '';
  return { ...column, description: own ?? shared };
}

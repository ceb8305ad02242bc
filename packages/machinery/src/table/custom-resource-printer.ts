import type { CustomResourceColumnDefinition } from '../generated/apiextensions-v1.ts';
import { compileJsonPath } from '../json-path.ts';
import type { Json } from '../object.ts';
import { translateTimestampSince } from './format-age.ts';
import { formatGoJson, formatGoNumber } from '../schema/go-format.ts';
import { describedPrinter } from './described-printer.ts';
import { type ColumnOf, NAME, type TableColumn, type TablePrinter, definePrinter } from './table-printer.ts';

const AGE_COLUMN: CustomResourceColumnDefinition = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
};

/**
 * How the objects of a CustomResourceDefinition look: their name, then the version's `additionalPrinterColumns`, or their age
 * where there are none. A cell is null where the path finds nothing or what it finds is not of the column's type.
 *
 * @throws StatusError 400 where a column's `jsonPath` cannot be read.
 */
export function customResourcePrinter(columns: readonly CustomResourceColumnDefinition[] | undefined): TablePrinter {
  const given = columns && columns.length > 0 ? columns : [AGE_COLUMN];
  return describedPrinter(definePrinter([NAME, ...given.map(customColumn)]));
}

function customColumn(definition: CustomResourceColumnDefinition): ColumnOf<object> {
  const find = compileJsonPath(definition.jsonPath);
  const column: TableColumn = {
    name: definition.name,
    type: definition.type as TableColumn['type'],
    format: definition.format ?? '',
    description: definition === AGE_COLUMN ? '' : describe(definition),
    priority: definition.priority ?? 0,
  };
  return { column, cell: (object, now) => cellOf(definition.type, find(object)[0], now) };
}

/** As Go's JSONPath prints a value: objects and lists as JSON, numbers as floats where they are. */
function textCell(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null) return '<no value>';
  if (typeof value === 'number') return formatGoNumber(value);
  return typeof value === 'boolean' ? String(value) : formatGoJson(value);
}

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

function dateCell(value: string, now: number): string {
  return value === '' || RFC3339.test(value) ? translateTimestampSince(value, now) : '<invalid>';
}

function describe({ description, jsonPath }: CustomResourceColumnDefinition): string {
  return description || `Custom resource definition column (in JSONPath format): ${jsonPath}`;
}

function cellOf(type: string, value: unknown, now: number): Json {
  if (value === undefined) return null;
  switch (type) {
    case 'string':
      return textCell(value);
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? dateCell(value, now) : null;
    default:
      return null;
  }
}

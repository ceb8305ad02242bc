import { isJsonObject } from '@asterism/machinery';
import type { Fields } from '../objects/generated-kind.ts';
import type { KnownDifference } from './known-difference.ts';

/** What kubectl prints. */
export const tableDifferences: readonly KnownDifference[] = [
  {
    name: 'descriptions of columns',
    reason: 'texts for people: they follow the documentation of the fields',
    object({ real, own }, kind) {
      if (kind !== 'Table') return false;
      for (const { columnDefinitions } of [real, own]) {
        if (!Array.isArray(columnDefinitions)) continue;
        for (const column of columnDefinitions) if (isJsonObject(column)) delete column['description'];
      }
      return true;
    },
  },
  {
    name: 'columns added and taken away',
    reason: 'for these kinds 1.36 prints other columns; or in another order; those of both are compared',
    object({ real, own, request }, kind) {
      if (
        kind !== 'Table' ||
        !CHANGED_COLUMNS.has(request.split('/').findLast((part) => CHANGED_COLUMNS.has(part)) ?? '')
      )
        return false;
      const names = [real, own].map(columnNames);
      const common = new Set(names[0]?.filter((name) => names[1]?.includes(name)));
      for (const [index, table] of [real, own].entries()) keepColumns(table, names[index] ?? [], common);
      return true;
    },
  },
  {
    name: 'selector of a Job in tables',
    reason: 'the label of the generated selector has a prefix since 1.27',
    object: ({ real, request }, kind) =>
      kind === 'Table' &&
      request.includes('/jobs') &&
      eachCell(real, (cell) => cell.replace(/^controller-uid=/, 'batch.kubernetes.io/controller-uid=')),
  },
  {
    name: 'targets of a HorizontalPodAutoscaler in tables',
    reason: 'they tell the resource since 1.29',
    object: ({ real, request }, kind) =>
      kind === 'Table' &&
      request.includes('/horizontalpodautoscalers') &&
      eachCell(real, (cell) => cell.replace(/^(?=\S+\/\d+%$)/, 'cpu: ')),
  },
  {
    name: 'type of the column Restarts',
    reason: 'a text since 1.23: it tells when the last restart was',
    object({ real, request }, kind) {
      if (kind !== 'Table' || !/\/pods\b/.test(request) || !Array.isArray(real['columnDefinitions'])) return false;
      const column = (real['columnDefinitions'] as Fields[]).find(({ name }) => name === 'Restarts');
      const index = columnNames(real).indexOf('Restarts');
      if (column) column['type'] = 'string';
      for (const { cells } of (real['rows'] ?? []) as { cells: unknown[] }[]) cells[index] = String(cells[index]);
      return column !== undefined;
    },
  },
];

/** By plural. */
const CHANGED_COLUMNS = new Set([
  'resourcequotas',
  'persistentvolumeclaims',
  'persistentvolumes',
  'jobs',
  'serviceaccounts',
  'csidrivers',
  'priorityclasses',
  'cronjobs',
]);

/** Changes the texts in the cells. Returns whether one became another. */
function eachCell(table: Fields, change: (cell: string) => string): boolean {
  let changed = false;
  for (const row of (table['rows'] ?? []) as { cells: unknown[] }[]) {
    row.cells = row.cells.map((cell) => {
      const after = typeof cell === 'string' ? change(cell) : cell;
      changed ||= after !== cell;
      return after;
    });
  }
  return changed;
}

function columnNames(table: Fields): string[] {
  return ((table['columnDefinitions'] ?? []) as Fields[]).map(({ name }) => String(name));
}

function keepColumns(table: Fields, names: readonly string[], common: ReadonlySet<string>): void {
  const isCommon = (_: unknown, index: number): boolean => common.has(names[index] ?? '');
  const inOrder = (values: readonly unknown[]): unknown[] =>
    values
      .map((value, index) => ({ value, name: names[index] ?? '' }))
      .filter((_, index) => isCommon(_, index))
      .sort((a, b) => a.name.localeCompare(b.name))
      .map(({ value }) => value);
  table['columnDefinitions'] = inOrder(table['columnDefinitions'] as unknown[]);
  for (const row of (table['rows'] ?? []) as { cells: unknown[] }[]) row.cells = inOrder(row.cells);
}

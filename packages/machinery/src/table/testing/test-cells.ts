import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../object.ts';
import { builtinPrinter } from '../builtin-printers.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');
/** Before the moment that the rows are shown at. */
export const AN_HOUR_AGO = '2026-01-02T02:04:05Z';

/** The cells by the name of their column. An IPAddress shows an age that has no column, as upstream. */
export function shownCells(group: string, kind: string, object: KubeObject): Record<string, unknown> {
  const printer = builtinPrinter({ group, kind });
  const { cells } = printer.row(object, NOW);
  assert.equal(cells.length, printer.columns.length + (kind === 'IPAddress' ? 1 : 0));
  return Object.fromEntries(printer.columns.map(({ name }, i) => [name, cells[i]]));
}

/** A test for each row: some of the cells that the object shows. */
export function testCells(
  rows: readonly [name: string, group: string, kind: string, object: KubeObject, cells: Record<string, unknown>][],
): void {
  for (const [name, group, kind, object, expected] of rows) {
    test(name, () => {
      const all = shownCells(group, kind, object);
      assert.deepEqual(Object.fromEntries(Object.keys(expected).map((column) => [column, all[column]])), expected);
    });
  }
}

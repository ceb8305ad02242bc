import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { CustomResourceColumnDefinition } from '../generated/apiextensions-v1.ts';
import type { KubeObject } from '../object.ts';
import { customResourcePrinter } from './custom-resource-printer.ts';
import type { TableRowCondition } from './table-printer.ts';
import { tableFor } from './table.ts';

/** What a Kubernetes 1.36 server was asked to show, and its answer. `columns` are `name:type:format:priority`. */
interface Recorded {
  name: string;
  kind?: { group: string; kind: string };
  printerColumns?: CustomResourceColumnDefinition[];
  columns: string[];
  rows: { object: KubeObject; cells: unknown[]; conditions?: TableRowCondition[] }[];
}

const recorded = readFileSync(new URL('fixtures/recorded-tables.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded);

/** The objects were shown within the second in which they were made. */
function recordedAt({ rows }: Recorded): number {
  return Date.parse(rows[0]?.object.metadata?.creationTimestamp ?? '');
}

describe('tables look as a Kubernetes server makes them', () => {
  for (const table of recorded) {
    test(table.name, () => {
      const made = tableFor(
        table.kind ?? customResourcePrinter(table.printerColumns),
        table.rows.map(({ object }) => object),
        { now: recordedAt(table) },
      );
      const columns = made.columnDefinitions?.map((c) => `${c.name}:${c.type}:${c.format}:${c.priority}`);
      assert.deepEqual(columns, table.columns);
      assert.deepEqual(
        made.rows,
        table.rows.map(({ cells, conditions }) => (conditions ? { cells, conditions } : { cells })),
      );
    });
  }
});

test('without wide the columns of -o wide are left out, with their cells', () => {
  const deployment = { metadata: { name: 'web' }, spec: { replicas: 2 }, status: { readyReplicas: 1 } };
  const table = tableFor({ group: 'apps', kind: 'Deployment' }, [deployment], { now: 0, wide: false });
  assert.deepEqual(
    table.columnDefinitions?.map(({ name }) => name),
    ['Name', 'Ready', 'Up-to-date', 'Available', 'Age'],
  );
  assert.deepEqual(table.rows, [{ cells: ['web', '1/2', 0, 0, '<unknown>'] }]);
});

test('a kind that nobody knows shows its name and when it was created', () => {
  const table = tableFor(
    { group: 'example.com', kind: 'Widget' },
    [{ metadata: { name: 'w', creationTimestamp: '2026-01-02T03:04:05Z' } }, { metadata: { name: 'v' } }],
    { now: 0 },
  );
  assert.deepEqual(
    table.columnDefinitions?.map(({ name, type }) => [name, type]),
    [
      ['Name', 'string'],
      ['Created At', 'date'],
    ],
  );
  assert.deepEqual(table.rows, [{ cells: ['w', '2026-01-02T03:04:05Z'] }, { cells: ['v', null] }]);
});

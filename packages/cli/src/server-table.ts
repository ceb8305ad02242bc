import { wallNow } from '@asterism/client';
import type { Client } from '@asterism/client';
import { type KubeObject, type ResourceType, resourcePath, translateTimestampSince } from '@asterism/machinery';

/** `metav1.Table`, the part that is printed. */
export interface ServerTable {
  columnDefinitions: { name: string; priority: number }[];
  rows: { cells: unknown[]; object?: KubeObject }[];
  metadata?: { resourceVersion?: string; continue?: string };
}

export interface TableQuery {
  namespace?: string | undefined;
  name?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
}

/** Tables where the server makes them, plain JSON where it does not. */
export const TABLE_ACCEPT = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const PAGE = 500;

/** Asks the server for its own table of a kind, page by page: its columns, its words. */
export async function fetchTable(client: Client, type: ResourceType, query: TableQuery): Promise<ServerTable> {
  const path = resourcePath(type, query.name === undefined ? { namespace: query.namespace } : query);
  const table: ServerTable = { columnDefinitions: [], rows: [] };
  let next: string | undefined;
  do {
    const page = await fetchTablePage(client, `${path}?${parameters(query, next).toString()}`);
    if (table.columnDefinitions.length === 0) table.columnDefinitions = page.columnDefinitions;
    table.rows.push(...page.rows);
    table.metadata = page.metadata ?? {};
    next = page.metadata?.continue || undefined;
  } while (next !== undefined);
  return table;
}

function parameters(query: TableQuery, next: string | undefined): URLSearchParams {
  const search = new URLSearchParams();
  if (query.name === undefined) search.set('limit', String(PAGE));
  if (query.labelSelector) search.set('labelSelector', query.labelSelector);
  if (query.fieldSelector) search.set('fieldSelector', query.fieldSelector);
  if (next !== undefined) search.set('continue', next);
  return search;
}

/** One page of what is at `path`; names and ages where the server makes no tables. */
export async function fetchTablePage(client: Client, path: string): Promise<ServerTable> {
  return asTable(await client.getJson(path, { headers: { accept: TABLE_ACCEPT }, use: 'list' }));
}

/** A table as the server made it; of an object or a list, where it makes none, names and ages. */
export function asTable(answer: unknown): ServerTable {
  if ((answer as Partial<ServerTable> | null)?.rows !== undefined) {
    const table = answer as ServerTable;
    return { ...table, columnDefinitions: table.columnDefinitions ?? [], rows: table.rows ?? [] };
  }
  const { items, ...object } = (answer ?? {}) as KubeObject & { items?: KubeObject[] | null };
  const objects = items === undefined ? [object] : (items ?? []);
  const age = ({ metadata }: KubeObject): string => translateTimestampSince(metadata?.creationTimestamp, wallNow());
  return {
    columnDefinitions: [
      { name: 'Name', priority: 0 },
      { name: 'Age', priority: 0 },
    ],
    rows: objects.map((each) => ({ cells: [each.metadata?.name, age(each)], object: each })),
    metadata: object.metadata ?? {},
  };
}

/** Header and rows as text; `wide` keeps the columns that are hidden by default. */
export function tableText(table: ServerTable, wide: boolean): { header: string[]; rows: string[][] } {
  const shown = table.columnDefinitions.flatMap(({ priority }, index) => (wide || priority === 0 ? [index] : []));
  return {
    header: shown.map((index) => (table.columnDefinitions[index]?.name ?? '').toUpperCase()),
    rows: table.rows.map(({ cells }) => shown.map((index) => cellText(cells[index]))),
  };
}

function cellText(cell: unknown): string {
  if (cell === null || cell === undefined || cell === '') return '<none>';
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell as string | number | boolean);
}

import type { Client } from '@asterism/client';
import { type KubeObject, type ResourceType, resourcePath, type Status, StatusError } from '@asterism/machinery';

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
    const page = await getTable(client, `${path}?${parameters(query, next).toString()}`);
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

async function getTable(client: Client, path: string): Promise<ServerTable> {
  const response = await client.request({ method: 'GET', path, headers: { accept: TABLE_ACCEPT } });
  const body: unknown = JSON.parse(await readText(response.body));
  if (response.status >= 400) throw new StatusError(body as Status);
  return body as ServerTable;
}

/** The whole of a body, as text. */
export async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

/** The lines of a stream, as they become whole. */
export async function* lines(body: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of body) {
    const parts = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    yield* parts.filter((line) => line !== '');
  }
  if (rest !== '') yield rest;
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

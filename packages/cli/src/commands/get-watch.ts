import { type Client, readLines, responseError } from '@asterism/client';
import { parseJson, resourcePath, type Status, StatusError } from '@asterism/machinery';
import { CommandError } from '../exit-code.ts';
import { formatColumns } from '../output/columns.ts';
import type { Terminal } from '../output/terminal.ts';
import { asTable, type ServerTable, TABLE_ACCEPT } from '../server-table.ts';
import { type Answer, type GetFlags, queryOf, rowsOf } from './get-answer.ts';

interface TableEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: ServerTable | Status;
}

/** `-w`: prints the row of everything that changes from what was printed on, in the server's own columns, until interrupted. */
export async function watchTables(
  answers: readonly Answer[],
  flags: GetFlags,
  namespace: string,
  terminal: Terminal,
): Promise<void> {
  await Promise.all(answers.map((answer) => watchOne(answer, flags, namespace, terminal)));
}

async function watchOne(answer: Answer, flags: GetFlags, namespace: string, terminal: Terminal): Promise<void> {
  const { resource, names } = answer.argument;
  const query = queryOf(resource, flags, namespace);
  const parameters = new URLSearchParams({
    watch: 'true',
    resourceVersion: answer.table.metadata?.resourceVersion ?? '',
  });
  if (query.labelSelector) parameters.set('labelSelector', query.labelSelector);
  const fields = [query.fieldSelector, names.length === 1 ? `metadata.name=${names[0]}` : undefined].filter(Boolean);
  if (fields.length > 0) parameters.set('fieldSelector', fields.join(','));
  const path = resourcePath(resource, { namespace: query.namespace });
  // Only the first event of a watch brings the columns along.
  let { columnDefinitions } = answer.table;
  for await (const { type, object } of events(answer.source.client, `${path}?${parameters.toString()}`)) {
    if (type === 'ERROR') throw new StatusError(object as Status);
    if (type === 'BOOKMARK') continue;
    const table = asTable(object);
    if (table.columnDefinitions.length > 0) columnDefinitions = table.columnDefinitions;
    terminal.out(formatColumns(rowsOf({ ...answer, table: { ...table, columnDefinitions } }, flags, false)));
  }
}

async function* events(client: Client, path: string): AsyncGenerator<TableEvent> {
  const request = { method: 'GET', path, headers: { accept: TABLE_ACCEPT }, long: true };
  const response = await client.request(request);
  if (response.status >= 400) throw await responseError(request, response);
  for await (const line of readLines(response.body, client.transport.server ?? 'the server')) {
    yield parseEvent(line.toString('utf8'));
  }
}

function parseEvent(line: string): TableEvent {
  try {
    return parseJson(line) as TableEvent;
  } catch (cause) {
    throw new CommandError('the watch broke off in the middle of an event: run the command again', undefined, {
      cause,
    });
  }
}

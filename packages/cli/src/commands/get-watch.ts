import { resourcePath, type Status, StatusError } from '@asterism/machinery';
import { formatColumns } from '../output/columns.ts';
import type { Terminal } from '../output/terminal.ts';
import { lines, type ServerTable, TABLE_ACCEPT } from '../server-table.ts';
import { type Answer, type GetFlags, queryOf, rowsOf } from './get.ts';

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
  const response = await answer.source.client.request({
    method: 'GET',
    path: `${resourcePath(resource, { namespace: query.namespace })}?${parameters.toString()}`,
    headers: { accept: TABLE_ACCEPT },
    long: true,
  });
  // Only the first event of a watch brings the columns along.
  let { columnDefinitions } = answer.table;
  for await (const line of lines(response.body)) {
    const event = JSON.parse(line) as TableEvent | Status;
    if ('code' in event) throw new StatusError(event);
    const { type, object } = event as TableEvent;
    if (type === 'ERROR') throw new StatusError(object as Status);
    if (type === 'BOOKMARK') continue;
    const table = object as ServerTable;
    if ((table.columnDefinitions ?? []).length > 0) columnDefinitions = table.columnDefinitions;
    terminal.out(formatColumns(rowsOf({ ...answer, table: { ...table, columnDefinitions } }, flags, false)));
  }
}

import type { DiscoveredResource } from '@asterism/client';
import { SEARCH_PATH } from '@asterism/fleet/api';
import { type KubeList, type KubeObject, resourcePath, type Status, StatusError } from '@asterism/machinery';
import { EXIT } from '../exit-code.ts';
import { formatColumns } from '../output/columns.ts';
import { formatObjects, type ObjectFormat } from '../output/objects.ts';
import type { Terminal } from '../output/terminal.ts';
import { parseResourceArgument } from '../resource-argument.ts';
import { readText, type ServerTable, TABLE_ACCEPT, tableText } from '../server-table.ts';
import { openSession, type Session, type SessionFlags } from '../session.ts';

export interface SearchFlags extends SessionFlags {
  allNamespaces?: boolean;
  selector?: string;
  fieldSelector?: string;
  clusters?: string;
  orderBy?: string;
  limit?: string;
  output?: 'wide' | ObjectFormat;
}

/** `aster search pods`: one query over every cluster's objects, answered from the hub's store. */
export async function search(words: readonly string[], flags: SearchFlags, terminal: Terminal): Promise<number> {
  await using session = await openSession(flags);
  const { resource, names } = await parseResourceArgument(words, session.hub);
  const query = parameters(flags, names);
  const format = flags.output;
  if (format !== undefined && format !== 'wide') {
    const list = (await ask(session, resource, query, 'application/json', flags)) as KubeList<KubeObject>;
    terminal.out(await formatObjects(list.items, resource, format, false));
    return EXIT.fine;
  }
  query.set('includeObject', 'None'); // Then the table itself tells the namespace.
  const table = (await ask(session, resource, query, TABLE_ACCEPT, flags)) as ServerTable;
  if (table.rows.length === 0) {
    terminal.err('Nothing found in any cluster.\n');
    return EXIT.fine;
  }
  const { header, rows } = tableText(table, format === 'wide');
  terminal.out(formatColumns([header, ...rows]));
  if (table.metadata?.continue) terminal.err(`There is more: --limit ${rows.length} ended the list.\n`);
  return EXIT.fine;
}

function parameters(flags: SearchFlags, names: readonly string[]): URLSearchParams {
  const query = new URLSearchParams();
  const set = (name: string, value: string | undefined) =>
    value !== undefined && value !== '' && query.set(name, value);
  set('clusters', flags.clusters === 'all' ? undefined : flags.clusters);
  set('names', names.join(','));
  set('labelSelector', flags.selector);
  set('fieldSelector', flags.fieldSelector);
  set('orderby', flags.orderBy);
  set('limit', flags.limit);
  return query;
}

async function ask(
  session: Session,
  resource: DiscoveredResource,
  query: URLSearchParams,
  accept: string,
  flags: SearchFlags,
): Promise<unknown> {
  const namespace =
    resource.namespaced && flags.namespace !== undefined && !flags.allNamespaces ? flags.namespace : undefined;
  const path = `${SEARCH_PATH}${resourcePath(resource, { namespace })}?${query.toString()}`;
  const response = await session.hub.request({ method: 'GET', path, headers: { accept } });
  const body: unknown = JSON.parse(await readText(response.body));
  if (response.status >= 400) throw new StatusError(body as Status);
  return body;
}

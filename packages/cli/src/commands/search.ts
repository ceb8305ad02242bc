import type { Client, DiscoveredResource } from '@asterism/client';
import { SEARCH_PATH } from '@asterism/fleet/api';
import { type KubeList, type KubeObject, resourcePath } from '@asterism/machinery';
import { resolveClusters } from '../clusters-flag.ts';
import { EXIT } from '../exit-code.ts';
import { formatColumns } from '../output/columns.ts';
import { formatObjects, type ObjectFormat } from '../output/objects.ts';
import type { Terminal } from '../output/terminal.ts';
import { parseResourceArgument, refuseNamesWithSelector } from '../resource-argument.ts';
import { fetchTablePage, tableText } from '../server-table.ts';
import { openSession, type SessionFlags } from '../session.ts';
import { oneLine } from '../output/one-line.ts';

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
  refuseNamesWithSelector(words, flags);
  await using session = await openSession(flags, terminal);
  const clusters = await clustersOf(flags, session.hub);
  const { resource, names } = await parseResourceArgument(words, session.hub);
  const query = parameters(flags, names, clusters);
  const format = flags.output;
  if (format !== undefined && format !== 'wide') {
    const list = (await session.hub.getJson(pathOf(resource, query, flags))) as KubeList<KubeObject>;
    terminal.out(await formatObjects(list.items ?? [], resource, format, false));
    return EXIT.fine;
  }
  query.set('includeObject', 'None'); // Then the table itself tells the namespace.
  const table = await fetchTablePage(session.hub, pathOf(resource, query, flags));
  if (table.rows.length === 0) {
    terminal.err('Nothing found in any cluster.\n');
    return EXIT.fine;
  }
  const { header, rows } = tableText(table, format === 'wide');
  terminal.out(formatColumns([header, ...rows]));
  if (table.metadata?.continue) terminal.err(oneLine(`There is more: --limit ${rows.length} ended the list.`));
  return EXIT.fine;
}

/** Undefined: all that there are, and that the caller may search. */
async function clustersOf({ clusters }: SearchFlags, hub: Client): Promise<string[] | undefined> {
  return clusters === undefined || clusters === 'all' ? undefined : await resolveClusters(clusters, hub);
}

function parameters(flags: SearchFlags, names: readonly string[], clusters: string[] = []): URLSearchParams {
  const query = new URLSearchParams();
  const set = (name: string, value: string | undefined) =>
    value !== undefined && value !== '' && query.set(name, value);
  set('clusters', clusters.join(','));
  set('names', names.join(','));
  set('labelSelector', flags.selector);
  set('fieldSelector', flags.fieldSelector);
  set('orderby', flags.orderBy);
  set('limit', flags.limit);
  return query;
}

function pathOf(resource: DiscoveredResource, query: URLSearchParams, flags: SearchFlags): string {
  const namespace = resource.namespaced && !flags.allNamespaces ? flags.namespace : undefined;
  return `${SEARCH_PATH}${resourcePath(resource, { namespace })}?${query.toString()}`;
}

import type { Client, DiscoveredResource } from '@asterism/client';
import type { KubeObject } from '@asterism/machinery';
import { type ClusterFailure, fromEach, resolveClusters } from '../clusters-flag.ts';
import { CommandError, describeError, EXIT } from '../exit-code.ts';
import { formatColumns } from '../output/columns.ts';
import { formatObjects } from '../output/objects.ts';
import type { Terminal } from '../output/terminal.ts';
import { parseResourceArguments, refuseNamesWithSelector } from '../resource-argument.ts';
import { fetchTable, type ServerTable, type TableQuery } from '../server-table.ts';
import { openSession, type Session } from '../session.ts';
import { type Answer, type GetFlags, headerOf, queryOf, rowsOf, type Source } from './get-answer.ts';
import { watchTables } from './get-watch.ts';
import { oneLine } from '../output/one-line.ts';

/** `aster get`: objects of the hub, or of the members that `-C` names, with the cluster in the first column. */
export async function get(words: readonly string[], flags: GetFlags, terminal: Terminal): Promise<number> {
  if (flags.watch && wantsObjects(flags)) {
    throw new CommandError('--watch prints tables: leave out -o, or use -o wide', EXIT.usage);
  }
  refuseNamesWithSelector(words, flags);
  await using session = await openSession(flags, terminal);
  const sources = await sourcesOf(session, flags);
  const { answers, failures } = await fromEach(
    sources.map(({ cluster }) => cluster ?? ''),
    async (name) => {
      const source = sources.find(({ cluster }) => (cluster ?? '') === name) ?? {
        cluster: undefined,
        client: session.hub,
      };
      return await read(source, words, flags, session.namespace);
    },
  );
  if (failures.length > 0 && flags.clusters === undefined) throw failures[0]?.error;
  const all = answers.flatMap(({ answer }) => answer);
  await print(all, flags, session.namespace, terminal);
  const code = reportFailures(failures, answers.length, terminal);
  if (flags.watch) await watchTables(all, flags, session.namespace, terminal);
  return code;
}

async function sourcesOf(session: Session, flags: GetFlags): Promise<Source[]> {
  if (flags.clusters === undefined) return [{ cluster: undefined, client: session.hub }];
  const names = await resolveClusters(flags.clusters, session.hub);
  return names.map((cluster) => ({ cluster, client: session.member(cluster) }));
}

async function read(source: Source, words: readonly string[], flags: GetFlags, namespace: string): Promise<Answer[]> {
  const everything = await parseResourceArguments(words, source.client);
  if (everything.some(({ names }) => names.length > 0) && flags.allNamespaces) {
    throw new CommandError('a name and --all-namespaces do not go together: say which namespace with -n', EXIT.usage);
  }
  if (flags.watch && everything.some(({ names }) => names.length > 1)) {
    throw new CommandError('--watch follows one name, or all of a type: choose with -l instead', EXIT.usage);
  }
  const fetch = wantsObjects(flags) ? fetchObjects : fetchTable;
  return await Promise.all(
    everything.map(async (argument) => {
      const { resource, names } = argument;
      const query = queryOf(resource, flags, namespace);
      if (names.length === 0) return { source, argument, table: await fetch(source.client, resource, query) };
      const tables = await Promise.all(names.map((name) => fetch(source.client, resource, { ...query, name })));
      const { columnDefinitions = [], metadata = {} } = tables[0] ?? {};
      const table = { columnDefinitions, metadata, rows: tables.flatMap(({ rows }) => rows) };
      return { source, argument, table };
    }),
  );
}

const wantsObjects = ({ output }: GetFlags): boolean => output !== undefined && output !== 'wide';

/** Whole objects, in the shape of a table without columns. */
async function fetchObjects(client: Client, type: DiscoveredResource, query: TableQuery): Promise<ServerTable> {
  const resource = client.resource(type);
  const objects: KubeObject[] = [];
  if (query.name !== undefined) objects.push(await resource.get({ namespace: query.namespace, name: query.name }));
  else for await (const page of resource.pages(query)) objects.push(...page.items);
  return { columnDefinitions: [], rows: objects.map((object) => ({ cells: [], object })) };
}

async function print(
  answers: readonly Answer[],
  flags: GetFlags,
  namespace: string,
  terminal: Terminal,
): Promise<void> {
  const [first] = answers;
  if (first === undefined) return;
  const { output } = flags;
  if (output !== undefined && output !== 'wide') {
    const objects = answers.flatMap(({ table }) => table.rows.map(({ object }) => object ?? {}));
    const single = answers.every(({ argument }) => argument.names.length === 1);
    terminal.out(await formatObjects(objects, first.argument.resource, output, single));
    return;
  }
  const types = [...new Set(answers.map(({ argument }) => argument.resource.resource))];
  const tables = types
    .map((type) => answers.filter(({ argument }) => argument.resource.resource === type))
    .filter((group) => group.some(({ table }) => table.rows.length > 0))
    .map((group) =>
      formatColumns([headerOf(group, flags), ...group.flatMap((answer) => rowsOf(answer, flags, types.length > 1))]),
    );
  if (tables.length > 0) terminal.out(tables.join('\n'));
  else {
    const scoped = first.argument.resource.namespaced && !flags.allNamespaces;
    terminal.err(oneLine(`No resources found${scoped ? ` in ${namespace} namespace` : ''}.`));
  }
}

/** Names every cluster that failed, and why; the code says whether some or all did. */
export function reportFailures(failures: readonly ClusterFailure[], answered: number, terminal: Terminal): number {
  for (const { cluster, error } of failures) terminal.err(oneLine(`${cluster}: ${describeError(error)}`));
  if (failures.length === 0) return EXIT.fine;
  return answered > 0 ? EXIT.partial : EXIT.error;
}

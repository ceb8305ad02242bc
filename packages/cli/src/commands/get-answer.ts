import type { Client, DiscoveredResource } from '@asterism/client';
import type { ObjectFormat } from '../output/objects.ts';
import type { ResourceArgument } from '../resource-argument.ts';
import { type ServerTable, type TableQuery, tableText } from '../server-table.ts';
import type { SessionFlags } from '../session.ts';

/** Flags of `aster get`. */
export interface GetFlags extends SessionFlags {
  allNamespaces?: boolean;
  selector?: string;
  fieldSelector?: string;
  output?: 'wide' | ObjectFormat;
  clusters?: string;
  watch?: boolean;
}

/** One place to ask: the hub itself (no name), or a member through it. */
export interface Source {
  cluster: string | undefined;
  client: Client;
}

/** What one place answered for one type. */
export interface Answer {
  source: Source;
  argument: ResourceArgument;
  table: ServerTable;
}

export function queryOf(resource: DiscoveredResource, flags: GetFlags, namespace: string): TableQuery {
  return {
    namespace: resource.namespaced && !flags.allNamespaces ? namespace : undefined,
    labelSelector: flags.selector,
    fieldSelector: flags.fieldSelector,
  };
}

const showsNamespace = ({ argument }: Answer, flags: GetFlags): boolean =>
  flags.allNamespaces === true && argument.resource.namespaced;

/** The header of what the most talkative of several servers answered. */
export function headerOf(group: readonly Answer[], flags: GetFlags): string[] {
  const widest = group.reduce((best, answer) =>
    answer.table.columnDefinitions.length > best.table.columnDefinitions.length ? answer : best,
  );
  return [
    ...(flags.clusters === undefined ? [] : ['CLUSTER']),
    ...(showsNamespace(widest, flags) ? ['NAMESPACE'] : []),
    ...tableText(widest.table, flags.output === 'wide').header,
  ];
}

export function rowsOf(answer: Answer, flags: GetFlags, prefixed: boolean): string[][] {
  const { singular, group } = answer.argument.resource;
  const prefix = prefixed ? `${singular}${group === '' ? '' : `.${group}`}/` : '';
  return tableText(answer.table, flags.output === 'wide').rows.map(([name = '', ...cells], index) => [
    ...(flags.clusters === undefined ? [] : [answer.source.cluster ?? '']),
    ...(showsNamespace(answer, flags) ? [answer.table.rows[index]?.object?.metadata?.namespace ?? ''] : []),
    prefix + name,
    ...cells,
  ]);
}

import { CLUSTERS } from '@asterism/fleet/api';
import { compareApis, type ServedKind } from '@asterism/fleet/join';
import { formatGroupResource } from '@asterism/machinery';
import { resolveClusters } from '../clusters-flag.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import { formatColumns } from '../output/columns.ts';
import type { Terminal } from '../output/terminal.ts';
import { openSession, type SessionFlags } from '../session.ts';
import { oneLine } from '../output/one-line.ts';

export interface ApiResourcesFlags extends SessionFlags {
  clusters?: string;
  apiGroup?: string;
  lacking?: boolean;
  output?: 'wide' | 'name' | 'json';
}

/** `aster api-resources`: what members serve, as they told last, and which of them lack what others have. */
export async function apiResources(flags: ApiResourcesFlags, terminal: Terminal): Promise<number> {
  await using session = await openSession(flags, terminal);
  const only = flags.clusters === undefined ? undefined : await resolveClusters(flags.clusters, session.hub);
  const { items } = await session.hub.resource(CLUSTERS).list();
  const compared = items.filter(({ metadata }) => only?.includes(metadata.name ?? '') ?? true);
  if (compared.length === 0) throw new CommandError('there is nothing to compare: no cluster has joined yet');
  const { kinds, untold } = compareApis(compared);
  const shown = kinds.filter(
    ({ group, lacking }) => group === (flags.apiGroup ?? group) && (!flags.lacking || lacking.length > 0),
  );
  terminal.out(formatKinds(shown, flags.output));
  if (untold.length > 0) terminal.err(oneLine(`not told yet what they serve: ${untold.join(', ')}`));
  return untold.length > 0 ? EXIT.partial : EXIT.fine;
}

export function formatKinds(kinds: readonly ServedKind[], format: ApiResourcesFlags['output']): string {
  if (format === 'json') return `${JSON.stringify(kinds, null, 4)}\n`;
  if (format === 'name') return [...new Set(kinds.map(formatGroupResource))].map(oneLine).join('');
  const wide = format === 'wide';
  const head = ['NAME', 'APIVERSION', 'NAMESPACED', 'KIND', 'LACKING', ...(wide ? ['CLUSTERS'] : [])];
  const rows = kinds.map(({ resource, apiVersion, namespaced, kind, lacking, clusters }) => [
    resource,
    apiVersion,
    String(namespaced),
    kind,
    lacking.join(',') || '<none>',
    ...(wide ? [clusters.join(',')] : []),
  ]);
  return formatColumns([head, ...rows]);
}

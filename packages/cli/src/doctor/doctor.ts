import { type Clock, systemClock } from '@asterism/client';
import { type Cluster, CLUSTERS } from '@asterism/fleet/api';
import { examineCluster, examineHub, type Finding, hasFault } from '@asterism/fleet/join';
import { isNotFound, isStatusError } from '@asterism/machinery';
import { resolveClusters } from '../clusters-flag.ts';
import { clientVersion } from '../commands/version.ts';
import { EXIT } from '../exit-code.ts';
import { formatFinding } from '../output/findings.ts';
import type { Terminal } from '../output/terminal.ts';
import { openSession, type Session, type SessionFlags } from '../session.ts';

export interface DoctorFlags extends SessionFlags {
  clusters?: string;
  /** What is fine too. */
  all?: boolean;
  output?: 'json';
}

/** A finding, and whose it is: the hub's where no cluster is named. */
type Told = Finding & { cluster?: string };

/** How many clusters are looked at at once. */
const AT_ONCE = 16;

/**
 * `aster doctor`: looks for what is wrong, end to end, and says what to do; of what is fine it says nothing. Exits with 1 where there
 * is a fault.
 */
export async function doctor(flags: DoctorFlags, terminal: Terminal, clock: Clock = systemClock): Promise<number> {
  await using session = await openSession(flags);
  const { hub, connection } = session;
  const { findings, reached, ...known } = await examineHub({ hub, server: connection.server, clock });
  const told: Told[] = [];
  const tell = (found: readonly Told[]): void => {
    told.push(...found);
    if (flags.output !== undefined) return;
    for (const finding of found) if (flags.all || finding.state !== 'Fine') terminal.out(line(finding, terminal));
  };
  tell(findings);
  if (reached) for await (const found of lookAtClusters(session, flags, { clock, ...known })) tell(found);
  const healthy = !hasFault(told);
  if (flags.output === 'json') terminal.out(`${JSON.stringify({ healthy, findings: told }, null, 2)}\n`);
  else terminal.err(summary(told));
  return healthy ? EXIT.fine : EXIT.error;
}

function line(finding: Told, { style }: Terminal): string {
  return formatFinding({ ...finding, check: [finding.cluster ?? 'hub', finding.check].join('/') }, style);
}

type Known = Pick<Parameters<typeof examineCluster>[1], 'clock' | 'aheadMs' | 'registrations'>;

async function* lookAtClusters(session: Session, flags: DoctorFlags, known: Known): AsyncGenerator<Told[]> {
  const { hub, member } = session;
  const options = { hub, member, version: clientVersion(), ...known };
  const clusters = await chosen(session, flags);
  for (let from = 0; from < clusters.length; from += AT_ONCE) {
    yield* await Promise.all(
      clusters.slice(from, from + AT_ONCE).map(async (cluster) => {
        const found = await examineCluster(cluster, options);
        return found.map((finding) => ({ cluster: cluster.metadata.name ?? '', ...finding }));
      }),
    );
  }
}

async function chosen({ hub }: Session, { clusters }: DoctorFlags): Promise<Cluster[]> {
  const resource = hub.resource(CLUSTERS);
  if (clusters !== undefined && clusters !== 'all') {
    const names = await resolveClusters(clusters, hub);
    return await Promise.all(names.map((name) => resource.get({ name })));
  }
  try {
    return (await resource.list()).items;
  } catch (error) {
    // Who may not list them was told so, and names them.
    if (isStatusError(error, 'Forbidden') || isNotFound(error)) return [];
    throw error;
  }
}

function summary(told: readonly Told[]): string {
  const count = (state: Finding['state']): number => told.filter((finding) => finding.state === state).length;
  const [faults, remarks] = [count('Fault'), count('Remark')];
  if (faults + remarks === 0) return `all ${told.length} checks are fine\n`;
  const notes = `${remarks} ${remarks === 1 ? 'note' : 'notes'}`;
  return `${faults} ${faults === 1 ? 'fault' : 'faults'} and ${notes} in ${told.length} checks\n`;
}

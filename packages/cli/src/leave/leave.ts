import { type Client, type Clock, sleep, systemClock } from '@asterism/client';
import { type Cluster, CLUSTERS, clusterNamespace } from '@asterism/fleet/api';
import { askToLeave, forceOut, leaveOf, leavingMessage, removeTokensOf, TAKE_OUT_BY_HAND } from '@asterism/fleet/join';
import { isStatusError, NAMESPACES, ifFound } from '@asterism/machinery';
import { CommandError, EXIT } from '../exit-code.ts';
import { parseTimeout } from '../join/join-options.ts';
import type { Terminal } from '../output/terminal.ts';
import { parseClusterName } from '../service/agent-options.ts';
import { openSession, type SessionFlags } from '../session.ts';
import { oneLine } from '../output/one-line.ts';

export interface LeaveFlags extends SessionFlags {
  keep?: boolean;
  force?: boolean;
  /** `--no-wait` makes it false. */
  wait?: boolean;
  timeout: string;
}

/** Between two looks, ms: a person waits. */
const LOOK_MS = 500;

/**
 * `aster leave`: the hub takes the cluster out in order, and this tells how far it is. Interrupted and called again it goes on; the
 * hub goes on in between.
 */
export async function leave(
  name: string,
  flags: LeaveFlags,
  terminal: Terminal,
  clock: Clock = systemClock,
): Promise<number> {
  parseClusterName('NAME', name);
  if (flags.keep && flags.force) {
    throw new CommandError(
      '--keep, --force: with --force nobody goes to the cluster any more, so all that is there stays',
      EXIT.usage,
    );
  }
  const timeoutMs = parseTimeout(flags.timeout);
  await using session = await openSession(flags, terminal);
  const { hub } = session;
  const cluster = await ifFound(hub.resource(CLUSTERS).get({ name }));
  if (!cluster) throw new CommandError(`there is no cluster "${name}" in the hub: it has left, or never joined`);
  await forgetTokens(hub, name, terminal);
  if (flags.force) await forceOut(hub, cluster);
  else await askToLeave(hub, cluster, flags.keep ? 'Keep' : 'Drain');
  if (flags.wait === false) return EXIT.fine;
  await waitUntilGone(hub, cluster, { terminal, clock, timeoutMs });
  terminal.out(oneLine(`${name} has left`));
  if (flags.force) terminal.err(leftBehind(cluster));
  return EXIT.fine;
}

/** Who may let a cluster go need not be allowed to see tokens: they expire by themselves. */
async function forgetTokens(hub: Client, name: string, terminal: Terminal): Promise<void> {
  try {
    const count = await removeTokensOf(hub, name);
    if (count > 0) terminal.err(oneLine(`deleted ${count} bootstrap ${count === 1 ? 'token' : 'tokens'} of ${name}`));
  } catch (error) {
    if (!isStatusError(error, 'Forbidden')) throw error;
  }
}

interface Waiting {
  terminal: Terminal;
  clock: Clock;
  timeoutMs: number;
}

async function waitUntilGone(hub: Client, cluster: Cluster, { terminal, clock, timeoutMs }: Waiting): Promise<void> {
  const { name = '', uid } = cluster.metadata;
  const deadline = clock.monotonic() + timeoutMs;
  for (let said = ''; ; await sleep(clock, LOOK_MS)) {
    const live = await ifFound(hub.resource(CLUSTERS).get({ name }));
    const present = live?.metadata.uid === uid ? live : undefined;
    const message = present
      ? (leavingMessage(present) ?? 'the hub has not looked at it yet')
      : 'what belonged to it in the hub goes with it';
    if (!present && !(await ifFound(hub.resource(NAMESPACES).get({ name: clusterNamespace(name) })))) return;
    if (message !== said) terminal.err(oneLine(`leaving: ${message}`));
    said = message;
    if (clock.monotonic() < deadline) continue;
    const goesOn = present && leaveOf(present) ? 'The hub goes on; run this again to look, or' : 'Run this again, or';
    throw new CommandError(
      `${name} has not left after ${timeoutMs / 1000} s: ${message}. ${goesOn} with --force where the cluster is gone`,
      EXIT.timeout,
    );
  }
}

function leftBehind({ metadata }: Cluster): string {
  return (
    `Nobody went to ${metadata.name}. If it is still there, what was placed stays, and what the join made goes by:\n` +
    TAKE_OUT_BY_HAND.map((command) => `  ${command}\n`).join('')
  );
}

import { type Clock, systemClock } from '@asterism/client';
import { type Cluster, CLUSTER_REGISTRATIONS, type ClusterRegistration, CLUSTERS } from '@asterism/fleet/api';
import { formatFacts, mergeFacts, type PlacementFacts, refusedFacts } from '@asterism/fleet/join';
import { findCondition, ifFound, isConditionTrue, isConflict, isForbidden } from '@asterism/machinery';
import { callerName } from '../caller-name.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import type { Terminal } from '../output/terminal.ts';
import { openSession, type Session, type SessionFlags } from '../session.ts';
import { parseTime } from './parse-ttl.ts';
import { type FactFlags, parsePlacementFacts } from './placement-facts-flags.ts';
import { oneLine } from '../output/one-line.ts';

export interface ApproveFlags extends SessionFlags, FactFlags {
  acceptLabels?: boolean;
  deny?: boolean;
  reason?: string;
  timeout?: string;
}

/** How long the hub may take to act on a decision. */
const TIMEOUT = { shortest: '1s', longest: '1h' };

/**
 * `aster approve NAME`: lets the cluster in that asks for this name, or that asked by the registration of this name; `--deny` sends
 * it away. Ends when the hub has acted on it, and with an error where it could not: what contradicts what is there already, nobody
 * can approve. What claims a known cluster with another key is approved by the registration's own name alone.
 */
export async function approve(
  name: string,
  flags: ApproveFlags,
  terminal: Terminal,
  clock: Clock = systemClock,
): Promise<number> {
  const timeoutMs = parseTime('--timeout', flags.timeout ?? '30s', TIMEOUT);
  if (flags.reason !== undefined && !flags.deny) {
    throw new CommandError('--reason: says why a cluster is denied, so it needs --deny', EXIT.usage);
  }
  const given = parsePlacementFacts(flags);
  if (flags.deny && (flags.acceptLabels || Object.values(given).some((value) => value !== undefined))) {
    throw new CommandError('--deny: it gives no labels, so leave the other flags out', EXIT.usage);
  }
  await using session = await openSession(flags, terminal);
  const { items } = await session.hub.resource(CLUSTER_REGISTRATIONS).list();
  const registration = chosenOf(items, name);
  const wanted = flags.deny ? 'Denied' : 'Approved';
  const { decision, decidedBy = 'somebody', message } = registration.status ?? {};
  if (wanted === 'Approved' && decision === undefined) await refuseUnmeantTakeOver(session, registration, name);
  if (decision === undefined) {
    const accepted = mergeFacts(flags.acceptLabels ? registration.spec : {}, given);
    if (wanted === 'Approved') terminal.err(askedFor(registration, accepted));
    const { reason } = flags;
    await decide(
      session,
      registration,
      wanted === 'Denied' ? { decision: wanted, reason } : { decision: wanted, accepted },
    );
  } else if (decision !== wanted) throw alreadyDecided(registration);
  else
    terminal.err(
      oneLine(`${registration.metadata.name} was ${decision.toLowerCase()} before, by ${decidedBy}: ${message ?? ''}`),
    );
  const acted = await actedOn(session, registration, { timeoutMs, clock });
  if (acted.status?.decision !== wanted) {
    throw new CommandError(`${acted.spec.clusterName} cannot join, whoever approves: ${acted.status?.message ?? ''}`);
  }
  const refused = formatFacts(acted.status?.refused ?? {});
  if (refused !== '') {
    const { clusterName } = acted.spec;
    terminal.err(oneLine(`${clusterName} did not get ${refused}: set it on the Cluster ${clusterName} if it is right`));
  }
  terminal.out(oneLine(`${acted.spec.clusterName} ${wanted.toLowerCase()}`));
  return EXIT.fine;
}

/** The registration of that name, else the only one under way for a cluster of that name, else its last. */
function chosenOf(all: readonly ClusterRegistration[], name: string): ClusterRegistration {
  const exact = all.find(({ metadata }) => metadata.name === name);
  if (exact) return exact;
  const ofCluster = all.filter(({ spec }) => spec.clusterName === name);
  const open = ofCluster.filter(({ status }) => !isConditionTrue(status?.conditions, 'Complete'));
  const current = open.filter(isCurrent);
  const waiting = current.length > 0 ? current : open.sort(byAge).slice(-1);
  if (waiting.length > 1) {
    throw new CommandError(
      `${waiting.length} registrations ask for the name ${name}: look which key is the right one, and name the registration`,
      EXIT.error,
      { lines: waiting.map(lineOf) },
    );
  }
  const [found = ofCluster.sort(byAge).at(-1)] = waiting;
  if (found) return found;
  const others = all.filter((each) => !isConditionTrue(each.status?.conditions, 'Complete') && isCurrent(each));
  const asking =
    others.length === 0
      ? 'no cluster asks to join'
      : `who asks: ${[...new Set(others.map(({ spec }) => spec.clusterName))].sort().join(', ')}`;
  throw new CommandError(`no registration of that name, and none for a cluster "${name}": ${asking}`);
}

/** Whose certificate request is gone, has asked anew since: the hub keeps requests for hours only. */
function isCurrent({ status }: ClusterRegistration): boolean {
  return findCondition(status?.conditions, 'Complete')?.reason !== 'RequestMissing';
}

const bornOf = ({ metadata }: ClusterRegistration): string => metadata.creationTimestamp ?? '';
const byAge = (a: ClusterRegistration, b: ClusterRegistration): number => (bornOf(a) < bornOf(b) ? -1 : 1);

function lineOf(registration: ClusterRegistration): string {
  const { metadata, spec, status = {} } = registration;
  const { requestedBy = 'nobody known yet', publicKeyHash = 'not read yet', message = '' } = status;
  return `  ${metadata.name}: cluster id ${spec.clusterId}, key ${publicKeyHash}, asked by ${requestedBy} at ${bornOf(registration)}; ${message}`;
}

function alreadyDecided({ metadata: { name }, spec, status }: ClusterRegistration): CommandError {
  const { decision = '', decidedBy = 'somebody', message = '' } = status ?? {};
  const next =
    decision === 'Denied'
      ? `its agent has stopped asking. To let it ask again, kubectl delete clusterregistration ${name}, and start the agent`
      : `to take the cluster out, aster leave ${spec.clusterName}`;
  return new CommandError(`${name} was ${decision.toLowerCase()} by ${decidedBy} (${message}); ${next}`);
}

/**
 * Approving another key of a known cluster cuts off the agent that has the first one. The cluster's name does not say that this is
 * meant; nor does the registration's, where the claimant gave it the name of a cluster that is expected.
 */
async function refuseUnmeantTakeOver({ hub }: Session, claim: ClusterRegistration, name: string): Promise<void> {
  const { metadata, spec, status } = claim;
  if (name === metadata.name && isNamedByAgent(claim)) return;
  // Who may approve need not be allowed to see Clusters.
  const reading = ifFound(hub.resource(CLUSTERS).get({ name: spec.clusterName }));
  const known = await reading.catch((error: unknown) => {
    if (!isForbidden(error)) throw error;
    return undefined;
  });
  // Also where the hub has not looked at it yet, and would find a decision that counts.
  const isClaimed = known?.spec.id === spec.clusterId && known.spec.publicKeyHash !== status?.publicKeyHash;
  if (!isClaimed && findCondition(status?.conditions, 'Complete')?.reason !== 'KeyDiffers') return;
  const [message = '', ...lines] = takeOverLines(claim, known);
  throw new CommandError(message, EXIT.error, { lines });
}

/** As `newRequestName` does: nobody takes that for the name of a cluster. */
function isNamedByAgent({ metadata: { name = '' }, spec }: ClusterRegistration): boolean {
  return name.startsWith(`${spec.clusterName}-`) && /^[0-9a-f]{16}$/.test(name.slice(spec.clusterName.length + 1));
}

function takeOverLines(claim: ClusterRegistration, known: Cluster | undefined): string[] {
  const { metadata, spec } = claim;
  const bound = known ? (known.spec.publicKeyHash ?? 'none, it has no agent') : 'not yours to read';
  const approving = isNamedByAgent(claim)
    ? [
        'Only if that agent lost its key (the Secret asterism-system/agent-credential) and logs the one that asks:',
        `  aster approve ${metadata.name}`,
      ]
    : ['No agent gives its registration such a name: do not approve it.'];
  return [
    `${metadata.name} claims the cluster ${spec.clusterName}, which has joined with another key. If you approve it, the present agent is cut off, and ` +
      'the agent that asks gets its rights.',
    `  ${spec.clusterName}: cluster id ${known?.spec.id ?? spec.clusterId}, key ${bound}`,
    lineOf(claim),
    ...approving,
    'Else:',
    `  aster approve ${metadata.name} --deny`,
  ];
}

type Verdict = { decision: 'Denied'; reason: string | undefined } | { decision: 'Approved'; accepted: PlacementFacts };

/** What the cluster asks for and what becomes of it, for the administrator who approves. */
function askedFor({ spec }: ClusterRegistration, accepted: PlacementFacts): string {
  const asked = formatFacts(spec);
  if (asked === '') return '';
  const refused = formatFacts(refusedFacts(spec, accepted) ?? {});
  const outcome = refused === '' ? 'accepted' : `not accepted: ${refused} (--accept-labels accepts all of it)`;
  return oneLine(`${spec.clusterName} asks for ${asked}`) + oneLine(outcome);
}

async function decide(session: Session, { metadata }: ClusterRegistration, verdict: Verdict): Promise<void> {
  const { decision } = verdict;
  const decidedBy = await callerName(session);
  const message =
    verdict.decision === 'Denied'
      ? { message: verdict.reason ?? 'no reason was given' }
      : acceptedField(verdict.accepted);
  // Of two administrators the second must not overrule the first unseen.
  const { name = '', resourceVersion } = metadata;
  const body = { metadata: { resourceVersion }, status: { decision, decidedBy, ...message } };
  try {
    await session.hub
      .resource(CLUSTER_REGISTRATIONS)
      .patch({ name }, { type: 'merge', body }, { subresource: 'status' });
  } catch (error) {
    if (!isConflict(error)) throw error;
    throw new CommandError(`${name} changed in this moment: look at it again`, EXIT.error, { cause: error });
  }
}

const acceptedField = (accepted: PlacementFacts): { accepted?: PlacementFacts } =>
  Object.keys(accepted).length === 0 ? {} : { accepted };

/** The registration when the hub has done what follows from the decision. */
async function actedOn(
  { hub }: Session,
  { metadata: { name = '' } }: ClusterRegistration,
  { timeoutMs, clock }: { timeoutMs: number; clock: Clock },
): Promise<ClusterRegistration> {
  const stop = new AbortController();
  let told = 'is it running?';
  const cancel = clock.setTimer(() => stop.abort(), timeoutMs);
  try {
    const registrations = hub.resource(CLUSTER_REGISTRATIONS);
    for await (const event of registrations.watch({ fieldSelector: `metadata.name=${name}`, signal: stop.signal })) {
      if (event.type === 'DELETED') throw new CommandError(`${name} was deleted in this moment`);
      if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue;
      if (isConditionTrue(event.object.status?.conditions, 'Complete')) return event.object;
      told = event.object.status?.message ?? told;
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    cancel();
    stop.abort();
  }
  throw new CommandError(
    `the decision stands in ${name}, but the hub has not acted on it within ${timeoutMs / 1000} s: ${told}`,
    EXIT.timeout,
  );
}

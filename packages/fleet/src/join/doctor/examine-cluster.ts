import { type Client, ClientError, type Clock, READ_LIMITS, readBody } from '@asterism/client';
import { LEASES, StatusError } from '@asterism/machinery';
import { type Cluster, type ClusterRegistration, clusterNamespace, HEARTBEAT_LEASE } from '../../api/index.ts';
import { refusalOf } from '../../reach/refusal.ts';
import type { Finding } from '../finding.ts';
import { diagnoseCluster, type Probe } from './diagnose-cluster.ts';

export interface ExamineOptions {
  hub: Client;
  /** The member's API server through the hub, as who asks. */
  member: (clusterName: string) => Client;
  clock: Clock;
  /** How far the hub's clock is ahead of this one's, ms. */
  aheadMs: number;
  version: string;
  /** All that the hub has, where they may be read. */
  registrations: readonly ClusterRegistration[];
  signal?: AbortSignal | undefined;
}

/** How long a member may take to answer, ms. */
const ANSWER_MS = 15_000;

/** Looks at one cluster from the hub, and through it. What may not be read is left out; nothing is changed. */
export async function examineCluster(cluster: Cluster, options: ExamineOptions): Promise<Finding[]> {
  const { hub, clock, aheadMs, version, signal } = options;
  const { name = '' } = cluster.metadata;
  const ref = { namespace: clusterNamespace(name), name: HEARTBEAT_LEASE };
  const [lease, way] = await Promise.all([
    readable(hub.resource(LEASES).get(ref, { signal })),
    probe(options.member(name), clock, signal),
  ]);
  const renewed = Date.parse(lease?.spec?.renewTime ?? '');
  return diagnoseCluster({
    cluster,
    renewed: Number.isNaN(renewed) ? undefined : renewed,
    now: clock.wall().getTime() + aheadMs,
    registrations: options.registrations.filter(({ spec }) => spec.clusterName === name),
    ...way,
    version,
  });
}

async function probe(
  member: Client,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<{ probe: Probe; failing: string[] | undefined }> {
  const limit = AbortSignal.any([AbortSignal.timeout(ANSWER_MS), ...(signal ? [signal] : [])]);
  try {
    const begun = clock.monotonic();
    await member.version({ signal: limit });
    const roundTripMs = clock.monotonic() - begun;
    const { status, body } = await member.request({ method: 'GET', path: '/readyz?verbose', signal: limit });
    const text = (await readBody(body, 'the member', { signal: limit, limits: READ_LIMITS.text })).toString();
    const failing = [...text.matchAll(/^\[-\](\S+)/gm)].map((match) => match[1] ?? '');
    return { probe: { answered: true, roundTripMs }, failing: status === 200 || status >= 500 ? failing : undefined };
  } catch (error) {
    signal?.throwIfAborted();
    if (!limit.aborted && !(error instanceof StatusError) && !(error instanceof ClientError)) throw error;
    const message = limit.aborted ? `no answer within ${ANSWER_MS / 1000} s` : (error as Error).message;
    return { probe: { answered: false, refusal: refusalOf(error), message }, failing: undefined };
  }
}

/** Undefined where it is not there, or not for this user. */
async function readable<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof StatusError && (error.code === 403 || error.code === 404)) return undefined;
    throw error;
  }
}

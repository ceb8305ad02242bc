import { type Client, type Clock, sleep } from '@asterism/client';
import { findCondition } from '@asterism/machinery';
import type { Cluster as EngagedCluster, Logger } from '@asterism/runtime';
import { type Cluster, CLUSTERS } from '../../api/index.ts';
import { applyCondition } from './add-leaving.ts';
import {
  BEGUN_MESSAGE,
  changedCondition,
  JOIN_TAKEN_OUT,
  type JoinTakenOutReason,
  LEAVING,
  leaveOf,
} from './leave-state.ts';
import { takeOutJoin } from './take-out-join.ts';

export interface TakeOutOnLeaveOptions {
  clusterName: string;
  hub: EngagedCluster;
  /** The member, with the agent's own rights. */
  member: Client;
  logger: Logger;
  clock: Clock;
}

/** The agent's own manager of its condition: its status is another's. */
const MANAGER = 'asterism-agent-leave';
/** After a failure, ms. */
const RETRY_MS = 5_000;
/** Less than a stopping agent waits for its parts, ms. */
const LAST_WORD_MS = 1_500;

/**
 * Pull and Dual: waits until the hub says that nothing placed is left of this cluster, and then takes out what its join made, the
 * agent's own rights last. Resolves when that is done and told, or the signal aborts.
 */
export async function takeOutOnLeave(options: TakeOutOnLeaveOptions, signal: AbortSignal): Promise<void> {
  const { clusterName, hub, logger, clock } = options;
  const own = hub.cache.informer(CLUSTERS, { fieldSelector: `metadata.name=${clusterName}` });
  const called = Promise.withResolvers<Cluster>();
  const look = (cluster: Cluster): void => {
    if (isCalled(cluster)) called.resolve(cluster);
  };
  own.addHandler({ onAdd: look, onUpdate: (_, after) => look(after), onDelete: () => {} });
  const onAbort = (): void => called.reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await called.promise;
    logger.info({}, 'this cluster leaves: taking out what its join made');
    while (!(await attempt(options, own.store.get(clusterName), signal))) await sleep(clock, RETRY_MS, signal);
    logger.info({}, 'what the join made is taken out');
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    own.release();
  }
}

function isCalled(cluster: Cluster): boolean {
  return (
    leaveOf(cluster) !== undefined && findCondition(cluster.status?.conditions, LEAVING)?.reason === 'TakingOutJoin'
  );
}

/** Whether it is done. A Cluster that is gone has been let go by force. */
async function attempt(
  { hub, member, logger, clock }: TakeOutOnLeaveOptions,
  cluster: Cluster | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  if (!cluster) return true;
  const tell = async (
    status: 'True' | 'False',
    reason: JoinTakenOutReason,
    message: string,
    until = signal,
  ): Promise<void> => {
    const condition = changedCondition(
      cluster,
      { type: JOIN_TAKEN_OUT, status, reason, message },
      clock.wall().getTime(),
    );
    if (condition) await applyCondition(hub.client, cluster, condition, { manager: MANAGER, signal: until });
  };
  try {
    const onBegun = () => tell('False', 'Begun', BEGUN_MESSAGE);
    await takeOutJoin(member, { root: 'asterism:agent', signal, onBegun });
    // This very process is taken out with the rest, and may have been told to stop by now: its last word is waited for.
    await tell('True', 'Done', 'what the join made is taken out', AbortSignal.timeout(LAST_WORD_MS));
    return true;
  } catch (error) {
    if (signal.aborted) throw error;
    logger.warn({ err: error, retryInMs: RETRY_MS }, 'what the join made cannot be taken out yet');
    await tell('False', 'Failed', (error as Error).message).catch(() => {});
    return false;
  }
}

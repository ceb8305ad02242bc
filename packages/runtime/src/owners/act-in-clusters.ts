import { ClientError, type Clock, systemClock, unlessAborted } from '@asterism/client';
import type { Cluster } from '../cluster/cluster.ts';
import { LinkedAbort } from '../waiting/linked-abort.ts';

/**
 * What came of an act in one cluster. `silent`: it gave no answer, or none in time; the act may have been done there. Everything else
 * that it threw is `failed`.
 *
 * @example {@link actInClusters}
 */
export type ClusterOutcome<R = unknown> =
  | { readonly cluster: string; readonly outcome: 'done'; readonly value: R }
  | { readonly cluster: string; readonly outcome: 'failed' | 'silent'; readonly error: unknown };

/**
 * Of {@link actInClusters}.
 *
 * @example {@link actInClusters}
 */
export interface ActOptions {
  /** Aborts everywhere; the act's outcome is its reason then, thrown. A reconcile's `context` is what fits. */
  signal: AbortSignal;
  /** For how long each cluster may take, in ms. Default 5,000. */
  timeoutMs?: number | undefined;
  clock?: Clock | undefined;
}

const TIMEOUT_MS = 5_000;

/**
 * Acts in all clusters at the same time, each with a deadline of its own, and says what came of it in each, in their order. One that
 * fails or does not answer changes nothing for the others. A cluster that is disengaged meanwhile is left out.
 *
 * The `signal` that the act gets aborts at the deadline; an act that does not heed it is waited for no longer all the same.
 *
 * @throws the reason of `options.signal`, once that aborts.
 * @example
 * ```ts
 * const outcomes = await actInClusters(manager.clusters(), ({ client }, signal) => client.version({ signal }), context);
 * for (const each of outcomes) {
 *   if (each.outcome === 'done') logger.info({ cluster: each.cluster, ...each.value }, 'answers');
 *   else logger.warn({ cluster: each.cluster, err: each.error }, each.outcome);
 * }
 * ```
 */
export async function actInClusters<R>(
  clusters: readonly Cluster[],
  act: (cluster: Cluster, signal: AbortSignal) => Promise<R>,
  options: ActOptions,
): Promise<ClusterOutcome<R>[]> {
  const outcomes = await Promise.all(clusters.map((cluster) => actInOne(cluster, act, options)));
  return outcomes.flatMap((outcome) => outcome ?? []);
}

/**
 * Throws the first failure among the outcomes, so that a reconcile is tried again by its backoff. Clusters that are silent are no
 * failure.
 *
 * @example
 * ```ts
 * const map = { metadata: { namespace: 'shop', name: 'web' }, data: { colour: 'blue' } };
 * const outcomes = await actInClusters(clusters, ({ client }, signal) => apply(client, CONFIG_MAPS, map, { signal }), context);
 * throwFailure(outcomes);
 * ```
 */
export function throwFailure(outcomes: readonly ClusterOutcome[]): void {
  for (const each of outcomes) if (each.outcome === 'failed') throw each.error;
}

async function actInOne<R>(
  cluster: Cluster,
  act: (cluster: Cluster, signal: AbortSignal) => Promise<R>,
  { signal, timeoutMs = TIMEOUT_MS, clock = systemClock }: ActOptions,
): Promise<ClusterOutcome<R> | undefined> {
  const { name } = cluster;
  using patience = new LinkedAbort(signal, cluster.signal);
  const tooLate = new ClientError(`cluster "${name}" gave no answer within ${timeoutMs} ms`, { code: 'ETIMEDOUT' });
  const cancel = clock.setTimer(() => patience.abort(tooLate), timeoutMs, { background: true });
  try {
    const acting = (async () => await act(cluster, patience.signal))();
    return { cluster: name, outcome: 'done', value: await unlessAborted(acting, patience.signal) };
  } catch (error) {
    signal.throwIfAborted();
    if (cluster.signal.aborted) return undefined;
    if (patience.signal.aborted) return { cluster: name, outcome: 'silent', error: tooLate };
    return { cluster: name, outcome: gaveNoAnswer(error) ? 'silent' : 'failed', error };
  } finally {
    cancel();
  }
}

/** Of a request that could not be sent as it was, no cluster is to blame. */
function gaveNoAnswer(error: unknown): boolean {
  return error instanceof ClientError && error.code !== 'ERR_INVALID_REQUEST';
}

import type { Cluster } from '../cluster/cluster.ts';
import type { Logger } from '../log/logger.ts';

/**
 * The name of the cluster that a manager itself lives with.
 *
 * @example
 * ```ts
 * if (request.cluster === LOCAL_CLUSTER) logger.info({}, 'it lives with the manager');
 * const local = context.at(LOCAL_CLUSTER);
 * ```
 */
export const LOCAL_CLUSTER = '';

/**
 * What to reconcile: an object, by name alone. What it looks like is read when its turn comes.
 *
 * @example {@link createController}
 */
export interface Request {
  cluster: string;
  namespace?: string | undefined;
  name: string;
}

/**
 * What a reconcile asks for when it has done its part.
 *
 * @example {@link createController}
 */
export interface Result {
  /** Come back after this many milliseconds. */
  requeueAfter?: number | undefined;
}

/**
 * What a reconcile works with.
 *
 * @example {@link createController}
 */
export interface ReconcileContext {
  /** The cluster of the request. */
  cluster: Cluster;
  /**
   * Another cluster, by its name (`''`: the local one), where it is engaged now. Write to it through this one rather than the
   * manager's, and the next reconcile of the request waits for these writes too.
   */
  at(name: string): Cluster | undefined;
  /** Aborts at the reconcile's timeout, when the cluster is disengaged, and when the manager's grace is over. */
  signal: AbortSignal;
  /** Says `controller`, `cluster`, `namespace`, `name` and `reconcileID` with each line. */
  logger: Logger;
  /** Of this one attempt, as in its log lines. */
  reconcileID: string;
}

/**
 * Brings the world one step closer to what the object says. Throwing means: again, later.
 *
 * @example {@link createController}
 */
export interface Reconcile {
  (request: Request, context: ReconcileContext): Promise<Result | void>;
  /** Of {@link withFinalizer}: it holds objects with this finalizer, so none may go out of its sight. */
  readonly finalizer?: string | undefined;
}

/**
 * Thrown by a reconcile that no repetition can help; the request rests until its object changes.
 *
 * @example
 * ```ts
 * if (!test.spec?.image) throw new TerminalError('spec.image is missing: nothing can be done before it is there');
 * ```
 */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
}

/**
 * Tells requests apart.
 *
 * @example
 * ```ts
 * const seen = new Set<string>();
 * seen.add(requestKey({ cluster: 'paris', namespace: 'shop', name: 'web' }));
 * ```
 */
export function requestKey({ cluster, namespace = '', name }: Request): string {
  return `${cluster}\0${namespace}\0${name}`;
}

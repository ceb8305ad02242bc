import type { Cluster } from './cluster.ts';
import type { Logger } from './logger.ts';

/** The name of the cluster that a manager itself lives with. */
export const LOCAL_CLUSTER = '';

/** What to reconcile: an object, by name alone. What it looks like is read when its turn comes. */
export interface Request {
  cluster: string;
  namespace?: string | undefined;
  name: string;
}

export interface Result {
  /** Come back after this many milliseconds. */
  requeueAfter?: number | undefined;
}

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

/** Brings the world one step closer to what the object says. Throwing means: again, later. */
export type Reconcile = (request: Request, context: ReconcileContext) => Promise<Result | void>;

/** Thrown by a reconcile that no repetition can help; the request rests until its object changes. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
}

/** Tells requests apart. */
export function requestKey({ cluster, namespace = '', name }: Request): string {
  return `${cluster}\0${namespace}\0${name}`;
}

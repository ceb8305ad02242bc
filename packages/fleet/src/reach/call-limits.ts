import { failure } from '@asterism/machinery';

/** How many calls to members may be under way at one time: each is a stream of a tunnel, or a connection. */
export interface ReachLimits {
  /** Of one user to one cluster. A dashboard has one for each kind that it watches; a person seldom ten. */
  perCaller: number;
  /** Of all users to one cluster. */
  perCluster: number;
}

export const DEFAULT_REACH_LIMITS: Readonly<ReachLimits> = { perCaller: 200, perCluster: 1_000 };

/** Counts the calls under way. */
export class CallLimits {
  readonly #limits: ReachLimits;
  readonly #clusters = new Map<string, { total: number; byUser: Map<string, number> }>();

  constructor(limits: Partial<ReachLimits> = {}) {
    this.#limits = { ...DEFAULT_REACH_LIMITS, ...limits };
  }

  /**
   * Throws a 429 that says when to come again, where there are as many as may be. Returns what is to be called when the call has
   * ended; called again it does nothing.
   */
  enter(clusterName: string, username: string): () => void {
    const cluster = this.#clusters.get(clusterName) ?? { total: 0, byUser: new Map<string, number>() };
    const own = cluster.byUser.get(username) ?? 0;
    const { perCaller, perCluster } = this.#limits;
    if (own >= perCaller) {
      throw tooMany(
        `"${username}" has ${own} calls to cluster "${clusterName}" under way, and ${perCaller} are the limit of one user`,
      );
    }
    if (cluster.total >= perCluster) {
      throw tooMany(
        `${cluster.total} calls to cluster "${clusterName}" are under way, and ${perCluster} are the limit of all users`,
      );
    }
    this.#clusters.set(clusterName, cluster);
    cluster.total += 1;
    cluster.byUser.set(username, own + 1);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      cluster.total -= 1;
      const others = (cluster.byUser.get(username) ?? 1) - 1;
      if (others === 0) cluster.byUser.delete(username);
      else cluster.byUser.set(username, others);
      if (cluster.total === 0) this.#clusters.delete(clusterName);
    };
  }
}

function tooMany(what: string): Error {
  return failure(429, `${what}: end some (watches, logs, exec), or come again`, { details: { retryAfterSeconds: 1 } });
}

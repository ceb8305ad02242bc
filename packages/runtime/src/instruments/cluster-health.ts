/**
 * `Stale`: some watch is broken, so the cache may be behind. `Unreachable`: all are, and no server answers.
 *
 * @example {@link Cluster}
 */
export type ClusterHealth = 'Connected' | 'Stale' | 'Unreachable';

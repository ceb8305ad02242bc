import { LOCAL_CLUSTER } from '../controller/reconcile.ts';

/** The label of all clusters that have none of their own. No cluster is called so: names of objects have no underscore. */
export const OTHER_CLUSTERS = '_other';

/**
 * The values of the label `cluster`, of which there are at most so many: each costs a few hundred lines of every reading.
 *
 * The first to come have their names, the others share {@link OTHER_CLUSTERS}. The local cluster's is empty, which to Prometheus
 * is the same as none, and is not counted.
 */
export class ClusterLabels {
  readonly #limit: number;
  readonly #named = new Set<string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Returns the label that the cluster has from now on. */
  take(cluster: string): string {
    if (cluster !== LOCAL_CLUSTER && this.#named.size < this.#limit) this.#named.add(cluster);
    return this.of(cluster);
  }

  /** Returns whether it had a label of its own, which the next to come may have. */
  release(cluster: string): boolean {
    return this.#named.delete(cluster);
  }

  of(cluster: string): string {
    return cluster === LOCAL_CLUSTER || this.#named.has(cluster) ? cluster : OTHER_CLUSTERS;
  }
}

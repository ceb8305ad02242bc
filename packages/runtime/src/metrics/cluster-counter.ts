import { Counter, type Registry } from 'prom-client';

/** A counter with the label `cluster`, of which all that was counted of a cluster can be taken away. */
export class ClusterCounter {
  readonly #counter: Counter;
  readonly #series = new Map<string, Map<string, Record<string, string>>>();

  constructor(registry: Registry, name: string, help: string, furtherLabels: readonly string[]) {
    this.#counter = new Counter({ name, help, labelNames: [...furtherLabels, 'cluster'], registers: [registry] });
  }

  /** `cluster` is the value of the label; the further labels always come in the same order. */
  inc(cluster: string, further: Record<string, string>): void {
    const labels = { ...further, cluster };
    this.#counter.inc(labels);
    const ofCluster = this.#series.get(cluster) ?? new Map<string, Record<string, string>>();
    this.#series.set(cluster, ofCluster.set(Object.values(further).join('\n'), labels));
  }

  forget(cluster: string): void {
    for (const labels of this.#series.get(cluster)?.values() ?? []) this.#counter.remove(labels);
    this.#series.delete(cluster);
  }
}

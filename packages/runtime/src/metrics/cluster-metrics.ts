import type { Clock } from '@asterism/client';
import { Gauge, type Registry } from 'prom-client';
import type { CacheStatus } from '../cache/cache.ts';
import type { ClusterHealth } from '../instruments/cluster-health.ts';
import { ClusterCounter } from './cluster-counter.ts';
import type { ClusterLabels } from './cluster-labels.ts';
import type { MeasuredCluster } from '../instruments/instruments.ts';

const HEALTHS: readonly ClusterHealth[] = ['Connected', 'Stale', 'Unreachable'];

/** What becomes of two numbers with the same labels: of informers of one kind, or of clusters without a label of their own. */
type Join = (a: number, b: number) => number;
const sum: Join = (a, b) => a + b;

/** The clusters and their informers. The names are our own: upstream has none for these. */
export class ClusterMetrics {
  readonly #registry: Registry;
  readonly #labels: ClusterLabels;
  readonly #clock: Clock;
  readonly #clusters = new Map<string, MeasuredCluster>();
  readonly #lists: ClusterCounter;

  constructor(registry: Registry, labels: ClusterLabels, clock: Clock) {
    this.#registry = registry;
    this.#labels = labels;
    this.#clock = clock;
    this.#registerHealth();
    this.#registerInformers();
    const help = 'Complete lists by what made them necessary: initial, restored, or the HTTP status.';
    this.#lists = new ClusterCounter(registry, 'asterism_informer_relists_total', help, ['resource', 'reason']);
  }

  engaged(cluster: MeasuredCluster): void {
    this.#clusters.set(cluster.name, cluster);
  }

  disengaged(name: string): void {
    this.#clusters.delete(name);
  }

  listed(cluster: string, resource: string, reason: string): void {
    this.#lists.inc(this.#labels.of(cluster), { resource, reason });
  }

  /** Takes a label's series away. */
  forget(cluster: string): void {
    this.#lists.forget(cluster);
  }

  #registerHealth(): void {
    const clusters = this.#clusters;
    const labels = this.#labels;
    new Gauge({
      name: 'asterism_cluster_health',
      help: 'How many clusters of this label are in this health.',
      labelNames: ['cluster', 'health'],
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const cluster of clusters.values()) {
          const now = cluster.health();
          for (const health of HEALTHS) this.inc({ cluster: labels.of(cluster.name), health }, health === now ? 1 : 0);
        }
      },
    });
  }

  #registerInformers(): void {
    const age = (since: number | undefined): number | undefined =>
      since === undefined ? undefined : Math.max(0, this.#clock.monotonic() - since) / 1000;
    this.#gauge('synced', 'Whether all was listed once.', Math.min, ({ synced }) => (synced ? 1 : 0));
    this.#gauge('objects', 'Objects in the store.', sum, ({ objects }) => objects);
    this.#gauge('failures', 'Failures since the last success.', Math.max, ({ status }) => status.failures);
    this.#gauge('watch_age_seconds', 'For how long the watch has gone without a failure.', Math.min, ({ status }) =>
      age(status.watchingSince),
    );
    const lastEvent = 'How long ago an event or a bookmark came, or the watch was opened.';
    this.#gauge('last_event_age_seconds', lastEvent, Math.max, ({ status }) => age(status.lastEvent));
  }

  #gauge(name: string, help: string, join: Join, valueOf: (status: CacheStatus) => number | undefined): void {
    const clusters = this.#clusters;
    const label = this.#labels;
    new Gauge({
      name: `asterism_informer_${name}`,
      help,
      labelNames: ['cluster', 'resource'],
      registers: [this.#registry],
      collect() {
        this.reset();
        const values = new Map<string, { labels: Record<string, string>; value: number }>();
        for (const cluster of clusters.values()) {
          for (const status of cluster.status()) {
            const value = valueOf(status);
            if (value === undefined) continue;
            const labels = { cluster: label.of(cluster.name), resource: status.resource };
            const key = `${labels.cluster}\n${labels.resource}`;
            const before = values.get(key);
            values.set(key, { labels, value: before ? join(before.value, value) : value });
          }
        }
        for (const { labels, value } of values.values()) this.set(labels, value);
      },
    });
  }
}

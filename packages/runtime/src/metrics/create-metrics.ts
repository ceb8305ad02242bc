import { setImmediate as othersTurn } from 'node:timers/promises';
import { type Clock, systemClock } from '@asterism/client';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { ClientMetrics } from './client-metrics.ts';
import { ClusterLabels } from './cluster-labels.ts';
import { ClusterMetrics } from './cluster-metrics.ts';
import { ControllerMetrics } from './controller-metrics.ts';
import type { Instruments } from '../instruments/instruments.ts';
import { countRefusedReads } from './read-metrics.ts';
import { WebhookMetrics } from './webhook-metrics.ts';

/**
 * What is measured, and where it is registered.
 *
 * @example {@link createMetrics}
 */
export interface MetricsOptions {
  /** Where everything is registered, beside metrics of your own. Default: a new one. */
  registry?: Registry | undefined;
  /** How many member clusters have a label of their own, the first to come; the others share `_other`. Default 50. */
  clusterLimit?: number | undefined;
  /**
   * Whether to tell of the process too: CPU, memory, garbage collections, event-loop lag. Default true. False where the
   * registry has that already.
   */
  process?: boolean | undefined;
  clock?: Clock | undefined;
}

/**
 * The {@link Instruments} of a manager, as Prometheus reads them.
 *
 * @example {@link createMetrics}
 */
export interface Metrics extends Instruments {
  /** For metrics of your own: `new Counter({ name, help, registers: [metrics.registry] })`. */
  readonly registry: Registry;
}

/**
 * Metrics of one manager for Prometheus, in the names of controller-runtime, client-go's queues and its client.
 *
 * @example
 * ```ts
 * const metrics = createMetrics();
 * const manager = createManager({ client, logger, metrics, servers: [createStatusServer({ port: 8080, metrics })] });
 * ```
 */
export function createMetrics(options: MetricsOptions = {}): Metrics {
  const { registry = new Registry(), clusterLimit = 50, process = true, clock = systemClock } = options;
  const labels = new ClusterLabels(clusterLimit);
  const controllers = new ControllerMetrics(registry, labels);
  const clusters = new ClusterMetrics(registry, labels, clock);
  const clients = new ClientMetrics(registry, labels);
  countRefusedReads(registry, clusterLimit);
  if (process) collectDefaultMetrics({ register: registry });
  return {
    registry,
    controller: (controller) => controllers.controller(controller),
    engaged(cluster) {
      labels.take(cluster.name);
      clusters.engaged(cluster);
    },
    disengaged(name) {
      clusters.disengaged(name);
      if (!labels.release(name)) return;
      for (const part of [controllers, clusters, clients]) part.forget(name);
    },
    listed: (cluster, resource, reason) => clusters.listed(cluster, resource, reason),
    transport: (transport, cluster) => clients.transport(transport, cluster),
    leadership(name, leads) {
      new Gauge({
        name: 'leader_election_master_status',
        help: 'Whether this process leads: 1, or 0.',
        labelNames: ['name'],
        registers: [registry],
        collect() {
          this.set({ name }, leads() ? 1 : 0);
        },
      });
    },
    webhooks: new WebhookMetrics(registry),
    async read() {
      return { contentType: registry.contentType, text: await readInTurns(registry) };
    },
  };
}

/** As `registry.metrics()`, which with many clusters holds the event loop for longer than a reconcile should wait. */
async function readInTurns(registry: Registry): Promise<string> {
  const texts: string[] = [];
  for (const { name } of registry.getMetricsAsArray()) {
    texts.push(await registry.getSingleMetricAsString(name));
    await othersTurn();
  }
  return `${texts.join('\n\n')}\n`;
}

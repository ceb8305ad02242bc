import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { LOCAL_CLUSTER } from '../controller/reconcile.ts';
import { INITIAL_PRIORITY } from '../controller/work-queue.ts';
import type { ClusterLabels } from './cluster-labels.ts';
import type {
  ControllerInstruments,
  MeasuredController,
  QueueLoad,
  ReconcileOutcome,
} from '../instruments/instruments.ts';

/** Seconds; controller-runtime's. */
const RECONCILE_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
/** Seconds; client-go's: from 10 ns to 1000 s, each ten times the one before. */
const QUEUE_BUCKETS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000];

interface Counts {
  outcomes: Record<ReconcileOutcome, number>;
  timeouts: number;
  adds: number;
  retries: number;
}

/** A controller, and what was counted of it by the label of the cluster. */
interface Measured {
  controller: MeasuredController;
  counts: Map<string, Counts>;
}

type Labels = Record<string, string>;

/** Controllers and their queues, in controller-runtime's names, with the label `cluster`. */
export class ControllerMetrics {
  readonly #registry: Registry;
  readonly #labels: ClusterLabels;
  readonly #measured: Measured[] = [];
  readonly #reconcileTime: Histogram;
  readonly #queueTime: Histogram;
  readonly #workTime: Histogram;

  constructor(registry: Registry, labels: ClusterLabels) {
    this.#registry = registry;
    this.#labels = labels;
    this.#registerReconciles();
    this.#registerQueues();
    this.#reconcileTime = this.#histogram('controller_runtime_reconcile_time_seconds', 'How long a reconcile took.');
    this.#queueTime = this.#histogram('workqueue_queue_duration_seconds', 'How long an item was in line.');
    this.#workTime = this.#histogram('workqueue_work_duration_seconds', 'How long an item was worked on.');
  }

  controller(controller: MeasuredController): ControllerInstruments {
    const measured: Measured = { controller, counts: new Map([[LOCAL_CLUSTER, noCounts()]]) };
    this.#measured.push(measured);
    const { name } = controller;
    const counts = (cluster: string): Counts => {
      const label = this.#labels.of(cluster);
      let found = measured.counts.get(label);
      if (!found) measured.counts.set(label, (found = noCounts()));
      return found;
    };
    const observe = (histogram: Histogram, labels: Labels, cluster: string, ms: number): void =>
      histogram.observe({ ...labels, controller: name, cluster: this.#labels.of(cluster) }, ms / 1000);
    return {
      added: (cluster) => void counts(cluster).adds++,
      retried: (cluster) => void counts(cluster).retries++,
      taken: (cluster, waitedMs) => observe(this.#queueTime, { name }, cluster, waitedMs),
      done: (cluster, workedMs) => observe(this.#workTime, { name }, cluster, workedMs),
      timedOut: (cluster) => void counts(cluster).timeouts++,
      reconciled: (cluster, outcome, tookMs) => {
        counts(cluster).outcomes[outcome]++;
        observe(this.#reconcileTime, {}, cluster, tookMs);
      },
    };
  }

  /** Takes a label's series away. */
  forget(cluster: string): void {
    for (const { controller, counts } of this.#measured) {
      counts.delete(cluster);
      const { name } = controller;
      this.#reconcileTime.remove({ controller: name, cluster });
      this.#queueTime.remove({ name, controller: name, cluster });
      this.#workTime.remove({ name, controller: name, cluster });
    }
  }

  #registerReconciles(): void {
    const failed = ({ error, terminal, panic }: Counts['outcomes']): number => error + terminal + panic;
    this.#counter('controller_runtime_reconcile_total', 'Reconciles by how they ended.', ['result'], ({ outcomes }) => [
      [{ result: 'success' }, outcomes.success],
      [{ result: 'requeue_after' }, outcomes.requeue_after],
      [{ result: 'error' }, failed(outcomes)],
    ]);
    const simple: [name: string, help: string, of: (counts: Counts) => number][] = [
      ['reconcile_errors_total', 'Reconciles that failed.', ({ outcomes }) => failed(outcomes)],
      ['terminal_reconcile_errors_total', 'Reconciles that failed for good.', ({ outcomes }) => outcomes.terminal],
      ['reconcile_panics_total', 'Reconciles that failed by a mistake in the code.', ({ outcomes }) => outcomes.panic],
      ['reconcile_timeouts_total', 'Reconciles that were told to stop after their time.', ({ timeouts }) => timeouts],
    ];
    for (const [name, help, of] of simple) {
      this.#counter(`controller_runtime_${name}`, help, [], (counts) => [[{}, of(counts)]]);
    }
    const measured = this.#measured;
    new Gauge({
      name: 'controller_runtime_max_concurrent_reconciles',
      help: 'How many reconciles may run at the same time.',
      labelNames: ['controller'],
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const { controller } of measured)
          this.inc({ controller: controller.name }, controller.maxConcurrentReconciles);
      },
    });
    this.#gauge('controller_runtime_active_workers', 'Reconciles that run now.', false, ({ working }) => working);
  }

  #registerQueues(): void {
    this.#counter('workqueue_adds_total', 'Items that came in line.', ['name'], ({ adds }, name) => [[{ name }, adds]]);
    this.#counter('workqueue_retries_total', 'Items that come after a delay.', ['name'], ({ retries }, name) => [
      [{ name }, retries],
    ]);
    this.#registerDepth();
    const unfinished = 'How long the items that are worked on have been so, together.';
    const longest = 'How long the item that was taken first has been worked on.';
    this.#gauge('workqueue_unfinished_work_seconds', unfinished, true, ({ unfinishedMs }) => unfinishedMs / 1000);
    this.#gauge(
      'workqueue_longest_running_processor_seconds',
      longest,
      true,
      ({ longestMs }) => longestMs / 1000,
      true,
    );
  }

  #registerDepth(): void {
    const forEachLoad = this.#forEachLoad.bind(this);
    new Gauge({
      name: 'workqueue_depth',
      help: 'Items to be done now.',
      labelNames: ['name', 'controller', 'cluster', 'priority'],
      registers: [this.#registry],
      collect() {
        this.reset();
        forEachLoad((controller, cluster, { depth }) => {
          const labels = { name: controller, controller, cluster };
          for (const [priority, count] of [[0, 0], [INITIAL_PRIORITY, 0], ...depth] as const) {
            this.inc({ ...labels, priority }, count);
          }
        });
      },
    });
  }

  #counter(
    name: string,
    help: string,
    furtherLabels: readonly string[],
    valuesOf: (counts: Counts, controller: string) => readonly (readonly [further: Labels, value: number])[],
  ): void {
    const measured = this.#measured;
    new Counter({
      name,
      help,
      labelNames: [...furtherLabels, 'controller', 'cluster'],
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const { controller, counts } of measured) {
          for (const [cluster, each] of counts) {
            for (const [further, value] of valuesOf(each, controller.name)) {
              this.inc({ ...further, controller: controller.name, cluster }, value);
            }
          }
        }
      },
    });
  }

  /** `largest` where the largest of the clusters that share a label counts, and not their sum. */
  #gauge(name: string, help: string, ofQueue: boolean, valueOf: (load: QueueLoad) => number, largest = false): void {
    const forEachLoad = this.#forEachLoad.bind(this);
    new Gauge({
      name,
      help,
      labelNames: [...(ofQueue ? ['name'] : []), 'controller', 'cluster'],
      registers: [this.#registry],
      collect() {
        this.reset();
        const values = new Map<string, { labels: Labels; value: number }>();
        forEachLoad((controller, cluster, load) => {
          const key = `${controller}\n${cluster}`;
          const before = values.get(key)?.value ?? 0;
          const value = largest ? Math.max(before, valueOf(load)) : before + valueOf(load);
          values.set(key, { labels: { ...(ofQueue ? { name: controller } : {}), controller, cluster }, value });
        });
        for (const { labels, value } of values.values()) this.set(labels, value);
      },
    });
  }

  #histogram(name: string, help: string): Histogram {
    const ofQueue = name.startsWith('workqueue_');
    return new Histogram({
      name,
      help,
      labelNames: [...(ofQueue ? ['name'] : []), 'controller', 'cluster'],
      buckets: ofQueue ? QUEUE_BUCKETS : RECONCILE_BUCKETS,
      registers: [this.#registry],
    });
  }

  /** Of each label that something was counted for, also where nothing stands in line: a gauge that goes is not a zero. */
  #forEachLoad(visit: (controller: string, cluster: string, load: QueueLoad) => void): void {
    for (const { controller, counts } of this.#measured) {
      for (const label of counts.keys()) visit(controller.name, label, NO_LOAD);
      for (const [cluster, load] of controller.loads()) visit(controller.name, this.#labels.of(cluster), load);
    }
  }
}

const NO_LOAD: QueueLoad = { depth: new Map(), working: 0, unfinishedMs: 0, longestMs: 0 };

function noCounts(): Counts {
  const outcomes = { success: 0, requeue_after: 0, error: 0, terminal: 0, panic: 0 };
  return { outcomes, timeouts: 0, adds: 0, retries: 0 };
}

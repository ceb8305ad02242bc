import { type Clock, createController, generationChanged, type Manager, systemClock } from '@asterism/runtime';
import { CLUSTERS, type Cluster, clusterNamespace, WORKS, type Work } from '../../api/index.ts';
import { Executor } from './executor.ts';
import { clusterOfWork } from '../works/work-object.ts';
import { Works } from '../works/works.ts';

export interface ExecutorOptions {
  /** For how long changes of status are gathered before one write, in ms. Default 100. */
  coalesceMs?: number | undefined;
  /**
   * For how long while a rollout is under way. Default 1200, so that one that ends within a second is told once; it is less than the
   * hub waits for an answer (`patienceMs`).
   */
  progressMs?: number | undefined;
  clock?: Clock | undefined;
  random?: (() => number) | undefined;
}

/** Adds the executor of the hub: it writes to every engaged cluster whose `syncMode` is `Push`. */
export function addPushExecutor(manager: Manager, options: ExecutorOptions = {}): void {
  const clusters = manager.local.cache.informer(CLUSTERS);
  const accepts = (name: string): boolean => clusters.store.get(name)?.spec.syncMode === 'Push';
  const executor = createExecutor(manager, options, { accepts, releases: true });
  const modeChanged = { update: (before: Cluster, after: Cluster) => before.spec.syncMode !== after.spec.syncMode };
  manager.add(
    controllerOf(executor, undefined).watches<Cluster>(
      CLUSTERS,
      ({ metadata }) => executor.requestsOf(metadata.name ?? ''),
      {
        predicates: [modeChanged],
      },
    ),
  );
}

/**
 * Adds the executor of an agent: it writes to its own cluster, engaged under `clusterName`, what the Works in that cluster's
 * namespace of the hub say. It reads nothing else of the hub, and writes nothing there but the Works' status.
 */
export function addPullExecutor(manager: Manager, options: ExecutorOptions & { clusterName: string }): void {
  const { clusterName } = options;
  const namespace = clusterNamespace(clusterName);
  const accepts = (name: string): boolean => name === clusterName;
  manager.add(controllerOf(createExecutor(manager, options, { accepts, namespace, releases: false }), namespace));
}

interface Reach {
  accepts: (clusterName: string) => boolean;
  releases: boolean;
  /** The one namespace of the hub that can be read. */
  namespace?: string;
}

function createExecutor(manager: Manager, options: ExecutorOptions, { accepts, releases, namespace }: Reach): Executor {
  const { coalesceMs = 100, progressMs = 1200, clock = systemClock, random = Math.random } = options;
  const works = new Works(manager.local, namespace);
  return new Executor(manager, { works, clock, random, coalesceMs, progressMs, accepts, releases });
}

/** Requests bear the member's name, so that a member that is slow or dead delays no other. */
function controllerOf(executor: Executor, namespace: string | undefined) {
  return createController({
    name: 'executor',
    concurrency: 16,
    concurrencyPerCluster: 8,
    gather: (request) => executor.gather(request),
    reconcile: (request, context) => executor.reconcile(request, context),
  })
    .watches<Work>(
      WORKS,
      (work) => [{ cluster: clusterOfWork(work), namespace: work.metadata.namespace, name: work.metadata.name ?? '' }],
      { namespace, predicates: [generationChanged] },
    )
    .source((enqueue, signal) => executor.follow(enqueue, signal));
}

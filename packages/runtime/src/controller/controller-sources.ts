import type { Clock } from '@asterism/client';
import type { KubeObject } from '@asterism/machinery';
import type { Informer, InformerOptions } from '../cache/informer.ts';
import type { EngagedCluster } from '../cluster/cluster.ts';
import type { Logger } from '../log/logger.ts';
import type { KindSource } from './controller.ts';
import type { Echoes } from './echoes.ts';
import type { Predicate } from './predicate.ts';
import { LOCAL_CLUSTER, requestKey } from './reconcile.ts';
import { INITIAL_PRIORITY, type WorkQueue } from './work-queue.ts';

/** After how long it is said what a controller waits for, and how often again. */
const SYNC_REPORT_MS = 30_000;

export interface SourcesOptions {
  kinds: readonly KindSource[];
  queue: WorkQueue;
  /** Whether requests for the cluster may be queued. */
  accepts: (cluster: string) => boolean;
  /** Where some events of own writes are to be ignored. */
  echoes: Echoes | undefined;
  clock: Clock;
  logger: Logger;
}

/**
 * The kinds that a controller watches in each cluster. Their events queue requests.
 *
 * S1 A cluster's events count from when *all* that the controller watches there is in the cache, so a reconcile never reads
 *    half of it; a cluster that is slow to get there delays no other.
 * S2 Requests for a cluster that this process does not hold are dropped. {@link replay} finds them again.
 */
export class ControllerSources {
  readonly #options: SourcesOptions;
  /** By cluster, what ends what {@link attach} began there. */
  readonly #attached = new Map<string, () => void>();
  /** Of the local cluster, what is listened to: it may ask for any cluster. */
  readonly #local: { kind: KindSource; informer: Informer }[] = [];
  /** Clusters that are to be asked for anew. */
  readonly #replaying = new Set<string>();
  #warm: Informer[] = [];

  constructor(options: SourcesOptions) {
    this.#options = options;
  }

  /** Fills the caches that are needed of the local cluster, and listens to none of them. */
  async warm(local: EngagedCluster, signal: AbortSignal): Promise<void> {
    this.#warm = this.#watched(local).map(({ informer }) => informer);
    await this.#synced(local, this.#warm, signal);
  }

  /** Watches a cluster. Resolves when all of it is in the cache, or the cluster is gone. */
  async attach(cluster: EngagedCluster): Promise<void> {
    const watched = this.#watched(cluster);
    const forgo = cluster.onReturn(() => this.#options.queue.retryFailed(cluster.name));
    if (watched.length === 0) {
      // So it is for most controllers in each of a thousand clusters: a signal for nothing would be half a kilobyte each time.
      this.#attached.set(cluster.name, forgo);
      return;
    }
    if (cluster.name === LOCAL_CLUSTER) for (const informer of this.#warm.splice(0)) informer.release(); // Held twice.
    const informers = watched.map(({ informer }) => informer);
    const detach = new AbortController();
    this.#attached.set(cluster.name, () => {
      forgo();
      for (const informer of informers) informer.release();
      detach.abort(new Error(`cluster "${cluster.name}" was disengaged`));
    });
    if (!(await this.#synced(cluster, informers, detach.signal))) return;
    for (const { kind, informer } of watched) {
      if (cluster.name === LOCAL_CLUSTER) this.#local.push({ kind, informer });
      this.#listen(kind, informer, cluster.name);
    }
  }

  /** Watches nothing of the cluster any more. */
  detach(cluster: string): void {
    this.#attached.get(cluster)?.();
    this.#attached.delete(cluster);
  }

  /** Queues again what local objects ask of the cluster, which this process holds from now on. */
  replay(cluster: string): void {
    this.#replaying.add(cluster);
    // Many are taken at once, and all local objects are gone through for them.
    if (this.#replaying.size === 1) setImmediate(() => this.#replay());
  }

  /** What it watches there, each with a hold on its informer. */
  #watched(cluster: EngagedCluster): { kind: KindSource; informer: Informer }[] {
    const where = cluster.name === LOCAL_CLUSTER ? 'local' : 'members';
    return this.#options.kinds
      .filter(({ options: { clusters = 'local' } }) => clusters === where || clusters === 'all')
      .map((kind) => ({ kind, informer: cluster.cache.informer(kind.type, informerOptions(kind)) }));
  }

  /** False where the cluster is gone, or the signal aborted, before all was there. */
  async #synced(cluster: EngagedCluster, informers: readonly Informer[], signal: AbortSignal): Promise<boolean> {
    const cancelReport = this.#reportWaiting(cluster);
    try {
      await Promise.all(informers.map((informer) => informer.synced(signal)));
      return true;
    } catch (error) {
      if (signal.aborted || cluster.signal.aborted) return false;
      throw error;
    } finally {
      cancelReport();
    }
  }

  #listen({ type, map, options }: KindSource, informer: Informer, cluster: string): void {
    const { queue, accepts } = this.#options;
    const { predicates = [], ownWrites } = options;
    const echoes = ownWrites === 'ignore' ? this.#options.echoes : undefined;
    // Before and after mostly ask for the same: were it added twice, it would be reconciled twice.
    const ask = (objects: readonly KubeObject[], priority: number, change?: KubeObject): void => {
      const requests = objects.flatMap((object) => map(object, cluster));
      const distinct = new Map(requests.map((request) => [requestKey(request), request]));
      for (const request of distinct.values()) {
        if (!accepts(request.cluster)) continue;
        if (!change || !echoes || echoes.asks(request, cluster, type, change)) queue.add(request, { priority });
      }
    };
    informer.addHandler({
      onAdd(object, initial) {
        if (passes(predicates, (predicate) => predicate.create?.(object)))
          ask([object], initial ? INITIAL_PRIORITY : 0, initial ? undefined : object);
      },
      onUpdate(before, after, inferred) {
        if (passes(predicates, (predicate) => predicate.update?.(before, after)))
          ask([before, after], 0, inferred ? undefined : after);
      },
      onDelete(object) {
        if (passes(predicates, (predicate) => predicate.delete?.(object))) ask([object], 0);
      },
    });
  }

  #replay(): void {
    const { queue, accepts } = this.#options;
    const clusters = new Set(this.#replaying);
    this.#replaying.clear();
    for (const { kind, informer } of this.#local) {
      const {
        map,
        options: { predicates = [] },
      } = kind;
      for (const object of informer.store.list()) {
        if (!passes(predicates, (predicate) => predicate.create?.(object))) continue;
        for (const request of map(object, LOCAL_CLUSTER)) {
          const isAsked = clusters.has(request.cluster) && accepts(request.cluster);
          if (isAsked) queue.add(request, { priority: INITIAL_PRIORITY });
        }
      }
    }
  }

  /** Says, until cancelled, which caches are not there yet and what they hang on. */
  #reportWaiting(cluster: EngagedCluster): () => void {
    const { clock, logger } = this.#options;
    const report = (): void => {
      for (const { resource, synced, status } of cluster.cache.status()) {
        if (synced) continue;
        const fields = { cluster: cluster.name, resource, code: status.code };
        logger.warn(fields, `still waiting for the list of ${resource}: ${status.message ?? 'no answer yet'}`);
      }
      cancel = clock.setTimer(report, SYNC_REPORT_MS, { background: true });
    };
    let cancel = clock.setTimer(report, SYNC_REPORT_MS, { background: true });
    return () => cancel();
  }
}

function informerOptions({ options }: KindSource): InformerOptions {
  const { namespace, labelSelector, fieldSelector, transform } = options;
  return { namespace, labelSelector, fieldSelector, transform };
}

function passes(predicates: readonly Predicate[], verdict: (predicate: Predicate) => boolean | undefined): boolean {
  return predicates.every((predicate) => verdict(predicate) ?? true);
}

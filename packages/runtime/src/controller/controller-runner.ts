import { randomUUID } from 'node:crypto';
import type { Client, Clock } from '@asterism/client';
import { isConflict, type KubeObject } from '@asterism/machinery';
import type { Cluster, EngagedCluster } from '../cluster/cluster.ts';
import type { ControllerDescription, Enqueue, KindSource } from './controller.ts';
import { Echoes } from './echoes.ts';
import type { Informer, InformerOptions } from '../cache/informer.ts';
import { LinkedAbort } from '../waiting/linked-abort.ts';
import type { Logger } from '../log/logger.ts';
import type { ControllerInstruments, Instruments, ReconcileOutcome } from '../instruments/instruments.ts';
import { isPanic } from './is-panic.ts';
import type { Predicate } from './predicate.ts';
import { LOCAL_CLUSTER, type Request, requestKey, TerminalError } from './reconcile.ts';
import { INITIAL_PRIORITY, WorkQueue } from './work-queue.ts';
import { Workers } from './workers.ts';
import { WriteLedger } from './write-ledger.ts';
import { recordingClient, type WrittenVersion } from '../cache/written-versions.ts';

const TIMEOUT_MS = 120_000;
/** How long what failed in a cluster that gives no answer waits for its return, which is told of. */
const PARKED_MS = 60_000;
/** After how long it is said what a controller waits for, and how often again. */
const SYNC_REPORT_MS = 30_000;

export interface RunnerOptions {
  clock: Clock;
  logger: Logger;
  /** Engaged or local. */
  cluster: (name: string) => EngagedCluster | undefined;
  /** Whether this process may act on a cluster: it leads, or holds it. Always, where it is absent. */
  mayAct?: ((cluster: string) => boolean) | undefined;
  /** With sharding: aborts when the local cluster's requests are no more this process's; undefined while they are not. */
  localTenure?: (() => AbortSignal | undefined) | undefined;
  /** Told of what it does. */
  metrics?: Instruments | undefined;
  /** Milliseconds that nobody sets, for durations. */
  monotonic: () => number;
}

/**
 * A controller at work.
 *
 * C1 A cluster's events count from when *all* that the controller watches there is in the cache, so a reconcile never reads
 *    half of it; a cluster that is slow to get there delays no other.
 * C2 A request whose cluster is gone ends without a word.
 * C3 Whatever a reconcile throws ends with this request alone.
 * C4 A request is not reconciled before the caches have seen what its last reconcile wrote, and holds no worker until then.
 * C5 No reconcile begins in a process that does not lead, or hold the cluster, for certain at that moment, however long it was
 *    frozen.
 * C6 What fails in a cluster that gives no answer is tried again when it does.
 * C7 Clusters that give no answer hold no worker for more than 5 s.
 * C8 What is asked about a cluster that this process does not hold is dropped, and found again by {@link replay}.
 */
export class ControllerRunner {
  readonly description: ControllerDescription;
  readonly #options: RunnerOptions;
  readonly #logger: Logger;
  readonly #queue: WorkQueue;
  readonly #instruments: ControllerInstruments | undefined;
  /** By cluster, what ends what {@link attach} began there. */
  readonly #attached = new Map<string, () => void>();
  /** Of the local cluster, what is listened to: it may ask for any cluster. */
  readonly #local: { kind: KindSource; informer: Informer }[] = [];
  /** Clusters that are to be asked for anew. */
  readonly #replaying = new Set<string>();
  readonly #written: WriteLedger;
  /** Where some events of own writes are to be ignored. */
  readonly #echoes: Echoes | undefined;
  readonly #abort = new AbortController();
  readonly #workers: Workers;
  #warm: Informer[] = [];

  constructor(description: ControllerDescription, options: RunnerOptions) {
    const { concurrency = 1, concurrencyPerCluster = Math.ceil(concurrency / 2) } = description.options;
    this.description = description;
    this.#options = options;
    this.#logger = options.logger.child({ controller: description.name });
    const { clock, metrics, monotonic } = options;
    this.#written = new WriteLedger(options);
    const ignores = description.kinds.some(({ options: { ownWrites } }) => ownWrites === 'ignore');
    this.#echoes = ignores ? new Echoes() : undefined;
    this.#instruments = metrics?.controller({
      name: description.name,
      maxConcurrentReconciles: concurrency,
      loads: () => this.#queue.loads(),
    });
    const instruments = this.#instruments;
    this.#queue = new WorkQueue({ clock, monotonic, instruments, perCluster: concurrencyPerCluster });
    this.#workers = new Workers({
      queue: this.#queue,
      clock,
      work: (request) => this.#work(request),
      silentMs: (name) => options.cluster(name)?.silentMs ?? 0,
    });
  }

  /** Fills the caches that it will need of the local cluster, and does nothing about what is in them. */
  async warm(local: EngagedCluster): Promise<void> {
    this.#warm = this.#watched(local).map(({ informer }) => informer);
    await this.#synced(local, this.#warm, this.#abort.signal);
  }

  /** Begins to work; resolves when the local cluster is attached. */
  async start(local: EngagedCluster): Promise<void> {
    const attached = this.attach(local);
    for (const informer of this.#warm.splice(0)) informer.release(); // attached: held twice
    const enqueue: Enqueue = (request, { priority, afterMs = 0 } = {}) =>
      this.#accepts(request.cluster) && this.#queue.addAfter(request, afterMs, { priority });
    for (const subscribe of this.description.subscriptions) subscribe(enqueue, this.#abort.signal);
    await attached;
    const { concurrency = 1 } = this.description.options;
    this.#workers.start(concurrency);
  }

  /** Watches what the controller watches in this cluster; resolves when it is all in the cache, or the cluster is gone. */
  async attach(cluster: EngagedCluster): Promise<void> {
    const watched = this.#watched(cluster);
    const forgo = cluster.onReturn(() => this.#queue.retryFailed(cluster.name));
    if (watched.length === 0) {
      // So it is for most controllers in each of a thousand clusters: a signal for nothing would be half a kilobyte each time.
      this.#attached.set(cluster.name, forgo);
      return;
    }
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

  /**
   * This process holds the cluster from now on: what local objects ask of it is asked anew. With sharding, the local cluster is
   * watched in every process, and a member from its attachment on.
   */
  replay(cluster: string): void {
    this.#replaying.add(cluster);
    // Many are taken at once, and all local objects are gone through for them.
    if (this.#replaying.size === 1) setImmediate(() => this.#replay());
  }

  /** The local cluster is no more this process's; resolves when nothing of it is worked on. */
  async dropLocal(): Promise<void> {
    await this.#queue.purge(LOCAL_CLUSTER);
    this.#written.drop(LOCAL_CLUSTER);
  }

  /** Purges all of a cluster; resolves when nothing of it is worked on. */
  async detach(name: string): Promise<void> {
    this.#attached.get(name)?.();
    this.#attached.delete(name);
    await this.#queue.purge(name);
    this.#written.drop(name);
  }

  /** Takes nothing new; what runs may end until `grace` aborts, and is told to stop then. Caches are left to others. */
  async stop(grace: AbortSignal): Promise<void> {
    const drained = this.#queue.shutDown();
    const onGrace = (): void => this.#abort.abort(new Error('the manager stops'));
    if (grace.aborted) onGrace();
    grace.addEventListener('abort', onGrace, { once: true });
    const workers = Promise.all([drained, this.#workers.ended()]);
    await Promise.race([workers, aborted(grace)]);
    this.#written.close();
    this.#abort.abort(new Error('the manager stops'));
  }

  /** What it watches there, each with a hold on its informer. */
  #watched(cluster: EngagedCluster): { kind: KindSource; informer: Informer }[] {
    const where = cluster.name === LOCAL_CLUSTER ? 'local' : 'members';
    return this.description.kinds
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
    const { predicates = [], ownWrites } = options;
    const echoes = ownWrites === 'ignore' ? this.#echoes : undefined;
    // Before and after mostly ask for the same: were it added twice, it would be reconciled twice.
    const ask = (objects: readonly KubeObject[], priority: number, change?: KubeObject): void => {
      const requests = objects.flatMap((object) => map(object, cluster));
      const distinct = new Map(requests.map((request) => [requestKey(request), request]));
      for (const request of distinct.values()) {
        if (!this.#accepts(request.cluster)) continue;
        if (!change || !echoes || echoes.asks(request, cluster, type, change)) this.#queue.add(request, { priority });
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
          const isAsked = clusters.has(request.cluster) && this.#accepts(request.cluster);
          if (isAsked) this.#queue.add(request, { priority: INITIAL_PRIORITY });
        }
      }
    }
  }

  #mayAct(cluster: string): boolean {
    return this.#options.mayAct?.(cluster) !== false;
  }

  /** Nothing new is begun of a cluster that is about to be given up, though what runs may still write. */
  #accepts(cluster: string): boolean {
    const { localTenure } = this.#options;
    return this.#mayAct(cluster) && (cluster !== LOCAL_CLUSTER || !localTenure || localTenure() !== undefined);
  }

  async #work(request: Request): Promise<void> {
    const left = this.description.options.gather?.(request) ?? 0;
    if (left > 0) return this.#queue.addAfter(request, left);
    const later = (): unknown => this.#accepts(request.cluster) && this.#queue.add(request);
    if (!(await this.#written.isSeen(request, later))) return;
    this.#echoes?.begin(request);
    await this.#reconcile(request);
    if (this.#echoes?.end(request)) later();
  }

  async #reconcile(request: Request): Promise<void> {
    const cluster = this.#options.cluster(request.cluster);
    if (!cluster || cluster.signal.aborted) return this.#queue.forget(request);
    if (!this.#accepts(request.cluster)) return; // The manager ends, or the cluster is another's.
    const { reconcile, timeoutMs = TIMEOUT_MS } = this.description.options;
    const { namespace, name } = request;
    const reconcileID = randomUUID();
    const where = cluster.name ? { cluster: cluster.name } : {};
    const logger = this.#logger.child({ ...where, namespace, name, reconcileID });
    const tenure = request.cluster === LOCAL_CLUSTER ? this.#options.localTenure?.() : undefined;
    using abort = new LinkedAbort(this.#abort.signal, cluster.signal, tenure);
    const { signal } = abort;
    const onTimeout = (): void => {
      if (signal.aborted) return;
      this.#instruments?.timedOut(cluster.name);
      abort.abort(new Error(`reconcile took more than ${timeoutMs} ms`));
    };
    const cancelTimer = this.#options.clock.setTimer(onTimeout, timeoutMs, { background: true });
    const start = this.#options.monotonic();
    const tell = (outcome: ReconcileOutcome): void =>
      this.#instruments?.reconciled(cluster.name, outcome, this.#options.monotonic() - start);
    try {
      const at = (name: string): Cluster | undefined => {
        const other = this.#options.cluster(name);
        return other && this.#recording(other, request);
      };
      const result = await reconcile(request, {
        cluster: this.#recording(cluster, request),
        at,
        signal,
        logger,
        reconcileID,
      });
      this.#queue.forget(request);
      const isOver = cluster.signal.aborted || tenure?.aborted === true;
      const requeueAfter = isOver ? undefined : result?.requeueAfter;
      if (requeueAfter !== undefined) this.#queue.addAfter(request, requeueAfter);
      tell(requeueAfter === undefined ? 'success' : 'requeue_after');
    } catch (error) {
      if (this.#abort.signal.aborted || cluster.signal.aborted || tenure?.aborted) return;
      const isParked = cluster.health() === 'Unreachable';
      tell(this.#failed(request, signal.aborted ? signal.reason : error, { logger, isParked }));
    } finally {
      cancelTimer();
    }
  }

  #failed(
    request: Request,
    error: unknown,
    { logger, isParked }: { logger: Logger; isParked: boolean },
  ): ReconcileOutcome {
    if (error instanceof TerminalError) {
      this.#queue.forget(request);
      logger.error({ err: error }, `reconcile failed for good: ${error.message}`);
      return 'terminal';
    }
    this.#queue.addRateLimited(request, { atLeastMs: isParked ? PARKED_MS : 0 });
    const message = error instanceof Error ? error.message : String(error);
    const fields = { err: error, failures: this.#queue.failures(request) };
    if (isPanic(error)) {
      logger.error(fields, `reconcile failed by a mistake in its code: ${message}`);
      return 'panic';
    }
    // Somebody else was faster: the next reconcile sees what they wrote.
    if (isConflict(error)) logger.debug(fields, `reconcile met a conflict: ${message}`);
    else logger.warn(fields, `reconcile failed: ${message}`);
    return 'error';
  }

  /** A cluster as a reconcile sees it: its writes are noted, and go out while this process may act on the request's cluster. */
  #recording(cluster: EngagedCluster, request: Request): Cluster {
    const { name, cache, signal } = cluster;
    // To the local cluster, whoever holds it, a reconcile may tell what it does about its own.
    const isReport = name === LOCAL_CLUSTER && request.cluster !== LOCAL_CLUSTER && this.#options.mayAct !== undefined;
    const clientOf = (): Client =>
      isReport ? cluster.clientWhile(() => this.#mayAct(request.cluster)) : cluster.client;
    const note = (version: WrittenVersion): void => {
      this.#written.note(request, { cluster: name, version });
      this.#echoes?.wrote(request, { cluster: name, version });
    };
    return {
      name,
      cache,
      signal,
      health: () => cluster.health(),
      answersAgain: (ending) => cluster.answersAgain(ending),
      onReturn: (callback) => cluster.onReturn(callback),
      get client() {
        return recordingClient(clientOf(), note);
      },
      get replaced() {
        return cluster.replaced;
      },
    };
  }

  /** Says, until cancelled, which caches are not there yet and what they hang on. */
  #reportWaiting(cluster: EngagedCluster): () => void {
    const { clock } = this.#options;
    const report = (): void => {
      for (const { resource, synced, status } of cluster.cache.status()) {
        if (synced) continue;
        const fields = { cluster: cluster.name, resource, code: status.code };
        this.#logger.warn(fields, `still waiting for the list of ${resource}: ${status.message ?? 'no answer yet'}`);
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

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

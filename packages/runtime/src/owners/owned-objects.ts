import { ClientError, type Clock, systemClock } from '@asterism/client';
import {
  formatApiVersion,
  formatGroupResource,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type KubeObject,
  parseApiVersion,
  type ResourceType,
} from '@asterism/machinery';
import type { Cluster } from '../cluster/cluster.ts';
import type { Enqueue, Subscribe } from '../controller/controller.ts';
import type { CleanupOutcome } from '../finalizers/with-finalizer.ts';
import type { InformerOptions } from '../cache/informer.ts';
import { LinkedAbort } from '../waiting/linked-abort.ts';
import type { Manager } from '../lifecycle/manager.ts';
import { LOCAL_CLUSTER, type ReconcileContext, type Request, type Result } from '../controller/reconcile.ts';
import { INITIAL_PRIORITY } from '../controller/work-queue.ts';
import { actInClusters, type ClusterOutcome } from './act-in-clusters.ts';
import {
  clusterOwnerOf,
  isOfKind,
  type Markable,
  markOwned,
  OWNER_DOMAIN_LABEL,
  OWNER_UID_LABEL,
  ownedSelector,
  requestFor,
} from './cluster-owner.ts';
import { ClusterView } from './cluster-view.ts';

/** How long one cluster may take to answer a deletion. */
const DELETE_MS = 10_000;
/** When to look again after a cluster that gave no answer, should nobody notice that it is back. */
const RETRY_MS = 30_000;

/**
 * Who owns what, and where.
 *
 * @example {@link OwnedObjects}
 */
export interface OwnedObjectsOptions<O extends KubeObject, T extends KubeObject> {
  manager: Pick<Manager, 'local' | 'onEngage'>;
  /** Whose ownership it is: this installation of this operator and no other. A label's value, at most 63 characters. */
  domain: string;
  /** The kind that owns. It lives in the local cluster. */
  owner: ResourceType<O>;
  owned: ResourceType<T>;
  /** Where they may stand: in every cluster (default), or in those that come and go alone. */
  clusters?: 'members' | 'all' | undefined;
  /** Those of the controller's `for`, where it has any, so that its informer is shared. */
  owners?: InformerOptions<O> | undefined;
  /** What to keep of an owned object: all of it, unless this says less. */
  keep?: Pick<InformerOptions<T>, 'metadataOnly' | 'fields' | 'transform'> | undefined;
  clock?: Clock | undefined;
}

/**
 * An object, and the name of the cluster in which it stands.
 *
 * @example {@link OwnedObjects}
 */
export interface PlacedObject<T extends KubeObject = KubeObject> {
  cluster: string;
  object: T;
}

/**
 * What the objects of one kind own in many clusters: found by an index, told to their owners' controller, deleted with them.
 *
 * O1 An owner is asked for when what it owns changes, and all are when a cluster has come and been read, or has gone.
 * O2 A cluster that cannot be reached delays what stands there and nothing else. Who was to work on it is asked for again when it is
 *    back, and not before.
 * O3 Nothing is deleted for want of an owner before the server itself has said that there is no such owner.
 * O4 What other domains own is never seen, and so never touched.
 *
 * @example
 * ```ts
 * const jobs = new OwnedObjects({ manager, domain: 'tests.example.dev', owner: TESTS, owned: JOBS });
 * const jobOf = ({ metadata, spec }: Test): ApplyConfiguration<Job> => {
 *   const containers = [{ name: 'test', image: spec?.image ?? 'busybox' }];
 *   const template = { spec: { restartPolicy: 'Never' as const, containers } };
 *   return { metadata: { namespace: metadata?.namespace, name: metadata?.name ?? '' }, spec: { template } };
 * };
 * const reconcile = withFinalizer({
 *   type: TESTS,
 *   finalizer: 'tests.example.dev/jobs',
 *   async reconcile(test, request, context) {
 *     const job = jobs.mark(jobOf(test), test);
 *     const outcomes = await jobs.inEach(request, context, ({ client }, signal) => apply(client, JOBS, job, { signal }));
 *     throwFailure(outcomes);
 *   },
 *   cleanup: (test, _, context) => jobs.deleteAll(test, context),
 *   absent: (request, context) => jobs.collectGarbage(request, context),
 * });
 * manager.add(createController({ name: 'tests', reconcile }).for(TESTS).source(jobs.subscribe));
 * ```
 */
export class OwnedObjects<O extends KubeObject = KubeObject, T extends KubeObject = KubeObject> {
  readonly #options: OwnedObjectsOptions<O, T>;
  readonly #selector: string;
  readonly #clock: Clock;
  readonly #views = new Map<string, ClusterView<T>>();
  #subscribed = false;

  /** @throws TypeError for a domain that cannot be a label's value. */
  constructor(options: OwnedObjectsOptions<O, T>) {
    this.#options = options;
    this.#selector = ownedSelector(options.domain);
    this.#clock = options.clock ?? systemClock;
  }

  /** For `source` of the one controller that is `for` the owners. Until it works, nothing is known. */
  readonly subscribe: Subscribe = (enqueue, signal) => {
    const { manager, owner, owned, clusters = 'all' } = this.#options;
    if (this.#subscribed) throw new Error(`what owns ${formatGroupResource(owned)} has a controller already`);
    this.#subscribed = true;
    const owners = manager.local.cache.informer(owner, this.#options.owners);
    const askAll = (): void => {
      for (const { metadata } of owners.store.list()) {
        const request = { cluster: LOCAL_CLUSTER, namespace: metadata?.namespace, name: metadata?.name ?? '' };
        enqueue(request, { priority: INITIAL_PRIORITY });
      }
    };
    const follow = (cluster: Cluster): void => this.#follow(cluster, { enqueue, askAll, signal });
    if (clusters === 'all') follow(manager.local);
    const forgo = manager.onEngage(follow);
    signal.addEventListener('abort', () => [forgo, () => owners.release()].forEach((end) => end()), { once: true });
  };

  /**
   * The clusters to work on, for this reconcile: what it writes there, its next one sees. Without those that are away, see
   * {@link away}: the request is asked for again when they are back.
   */
  clusters(request: Request, context: ReconcileContext): Cluster[] {
    return this.#read().flatMap((view) => {
      const found = context.at(view.cluster.name);
      if (!found || !view.isSilent) return found ?? [];
      view.park(request);
      return [];
    });
  }

  /**
   * Acts in all clusters at the same time, each with a deadline, and says what came of it in each ({@link actInClusters}). A cluster
   * that is away, or gives no answer, is `silent`: the request is asked for again when it is back, and until then it is left out.
   * The others are neither failed nor delayed by it, beyond the one deadline in which it is found out.
   *
   * Where an act met an object that is there already, what earlier owners of the name have left behind goes
   * ({@link collectGarbage}); the failure stays one.
   *
   * @throws the reason of `context.signal`, once that aborts.
   */
  async inEach<R>(
    request: Request,
    context: ReconcileContext,
    act: (cluster: Cluster, signal: AbortSignal) => Promise<R>,
    options: { timeoutMs?: number | undefined } = {},
  ): Promise<ClusterOutcome<R>[]> {
    const clusters = this.clusters(request, context);
    const has = new Set(clusters.map(({ name }) => name));
    const away = this.#read().flatMap(({ cluster: { name } }) => (has.has(name) ? [] : name));
    const { signal } = context;
    const outcomes = await actInClusters(clusters, act, { ...options, signal, clock: this.#clock });
    for (const { cluster, outcome } of outcomes) {
      if (outcome === 'silent') this.#views.get(cluster)?.park(request);
      else this.#views.get(cluster)?.answered();
    }
    this.#report(outcomes, context);
    if (outcomes.some((each) => each.outcome === 'failed' && isAlreadyExists(each.error))) {
      await this.collectGarbage(request, context);
    }
    const error = new ClientError('it was away before', { code: 'ERR_CLUSTER_AWAY' });
    return [...outcomes, ...away.map((cluster) => ({ cluster, outcome: 'silent', error }) as const)];
  }

  /** The names of the clusters that have come, and have not been read yet or give no answer. */
  away(): string[] {
    const all = [...this.#views.values()];
    const away = all.filter(({ informer, isSilent }) => !informer.hasSynced || isSilent);
    return away.map(({ cluster }) => cluster.name);
  }

  /** What this very object (by its uid) owns, as the caches have it. Frozen. */
  of({ metadata }: O): PlacedObject<T>[] {
    return this.#find(BY_UID, metadata?.uid ?? '');
  }

  /** The object with the marks of its owner, see {@link markOwned}. */
  mark<M extends Markable>(object: M, owner: O): M {
    const { domain, owner: type } = this.#options;
    return markOwned(object, { domain, owner: { apiVersion: formatApiVersion(type), kind: type.kind, ...owner } });
  }

  /**
   * Deletes all that the owner has anywhere; the outcome is that of a finalizer's cleanup. `'cleaned'` when nothing stands in any
   * engaged cluster: one that has not been read yet, or gives no answer, is waited for. One that comes later is what
   * {@link collectGarbage} is for.
   *
   * @throws StatusError the first refusal, after the others have been deleted.
   */
  async deleteAll(owner: O, context: ReconcileContext): Promise<CleanupOutcome> {
    const { namespace, name = '' } = owner.metadata ?? {};
    const request = { cluster: LOCAL_CLUSTER, namespace, name };
    const { standing, silent } = await this.#delete(this.of(owner), request, context);
    const unread = this.#unread();
    if (standing.length + silent.length + unread.length === 0) return 'cleaned';
    const resource = formatGroupResource(this.#options.owned);
    context.logger.info({ standing, silent, unread }, `waits until no ${resource} of it stands in these clusters`);
    return silent.length > 0 ? { requeueAfter: RETRY_MS } : {};
  }

  /**
   * Deletes what owners of that name have left behind: in a cluster that was away when they went, or that were replaced by another
   * object of the name. Asks the server first whether they are really gone. Call it where there is no owner.
   *
   * @throws StatusError the first refusal, after the others have been deleted.
   */
  async collectGarbage(request: Request, context: ReconcileContext): Promise<Result | void> {
    const { owner } = this.#options;
    const found = this.#find(BY_OWNER, ownerKey(owner, request));
    if (found.length === 0) return;
    const { namespace, name } = request;
    const live = await context.cluster.client
      .resource(owner)
      .get({ namespace: owner.namespaced ? namespace : undefined, name }, { signal: context.signal })
      .catch(undefinedWhereGone);
    const garbage = found.filter(({ object }) => object.metadata?.labels?.[OWNER_UID_LABEL] !== live?.metadata?.uid);
    const { silent } = await this.#delete(garbage, request, context);
    if (silent.length > 0) return { requeueAfter: RETRY_MS };
  }

  #follow(cluster: Cluster, ask: { enqueue: Enqueue; askAll: () => void; signal: AbortSignal }): void {
    const { owned, owner, domain, keep } = this.#options;
    const { enqueue, askAll, signal } = ask;
    const informer = cluster.cache.informer(owned, { ...keep, labelSelector: this.#selector });
    informer.addIndex(BY_UID, ownerUid);
    informer.addIndex(BY_OWNER, ownerName);
    const end = new LinkedAbort(signal, cluster.signal);
    const view = new ClusterView<T>({ cluster, informer, enqueue, ending: end.signal, clock: this.#clock });
    this.#views.set(cluster.name, view);
    end.signal.addEventListener('abort', () => {
      informer.release();
      if (this.#views.get(cluster.name) === view) this.#views.delete(cluster.name);
      if (!signal.aborted) askAll();
      end[Symbol.dispose]();
    });
    const askFor = (object: T, priority = 0): void => {
      const found = clusterOwnerOf(object, domain);
      if (found?.cluster === LOCAL_CLUSTER && isOfKind(found, owner)) enqueue(requestFor(found), { priority });
    };
    informer.addHandler({
      onAdd: (object, initial) => askFor(object, initial ? INITIAL_PRIORITY : 0),
      onUpdate: (before, after) => [before, after].forEach((object) => askFor(object)),
      onDelete: (object) => askFor(object),
    });
    informer.synced(end.signal).then(askAll, () => {}); // it was disengaged, or the manager stops
  }

  #read(): ClusterView<T>[] {
    return [...this.#views.values()].filter(({ informer }) => informer.hasSynced);
  }

  #unread(): string[] {
    return [...this.#views.values()].filter(({ informer }) => !informer.hasSynced).map(({ cluster }) => cluster.name);
  }

  #find(index: string, value: string): PlacedObject<T>[] {
    return this.#read().flatMap(({ cluster, informer }) =>
      informer.store.byIndex(index, value).map((object) => ({ cluster: cluster.name, object })),
    );
  }

  /** The clusters in which something goes still, and those that gave no answer. */
  async #delete(
    placed: readonly PlacedObject<T>[],
    request: Request,
    context: ReconcileContext,
  ): Promise<{ standing: string[]; silent: string[] }> {
    const outcomes = await Promise.allSettled(placed.map((each) => this.#deleteOne(each, context)));
    const refused = outcomes.find((outcome) => outcome.status === 'rejected');
    if (refused) throw refused.reason;
    const where = (wanted: Deletion): string[] => {
      const clusters = placed.filter((_, i) => (outcomes[i] as PromiseFulfilledResult<Deletion>).value === wanted);
      return [...new Set(clusters.map(({ cluster }) => cluster))];
    };
    const silent = where('silent');
    for (const cluster of silent) this.#views.get(cluster)?.park(request);
    return { standing: where('standing'), silent };
  }

  #report(outcomes: readonly ClusterOutcome[], { logger }: ReconcileContext): void {
    const troubles = outcomes.flatMap((each) => (each.outcome === 'done' ? [] : each));
    if (troubles.length === 0) return;
    const texts = troubles.map(
      ({ cluster, error }) => `${cluster || 'the local one'}: ${(error as Error).message ?? error}`,
    );
    const where = (wanted: string) => troubles.flatMap(({ cluster, outcome }) => (outcome === wanted ? cluster : []));
    logger.info({ failed: where('failed'), silent: where('silent') }, `not done in every cluster: ${texts.join('; ')}`);
  }

  async #deleteOne({ cluster: name, object }: PlacedObject<T>, context: ReconcileContext): Promise<Deletion> {
    const cluster = context.at(name);
    if (!cluster) return 'gone';
    if (this.#views.get(name)?.isSilent) return 'silent';
    const { namespace, name: objectName = '', uid, deletionTimestamp } = object.metadata ?? {};
    if (deletionTimestamp) return 'standing';
    using patience = new LinkedAbort(context.signal);
    const cancel = this.#clock.setTimer(() => patience.abort(new Error('no answer')), DELETE_MS, { background: true });
    const options = { propagationPolicy: 'Background', preconditions: { uid }, signal: patience.signal } as const;
    try {
      const answer = await cluster.client
        .resource(this.#options.owned)
        .delete({ namespace, name: objectName }, options);
      return answer.kind === 'Status' ? 'gone' : 'standing';
    } catch (error) {
      // Another object has the name by now: that one is not what was to go.
      if (isNotFound(error) || isConflict(error)) return 'gone';
      context.signal.throwIfAborted();
      if (error instanceof ClientError || patience.signal.aborted) return 'silent';
      throw error;
    } finally {
      cancel();
    }
  }
}

type Deletion = 'gone' | 'standing' | 'silent';

const BY_UID = 'asterism.dev/owner-uid';
const BY_OWNER = 'asterism.dev/owner';

function ownerUid({ metadata }: KubeObject): string[] {
  const uid = metadata?.labels?.[OWNER_UID_LABEL];
  return uid ? [uid] : [];
}

/** One function for all, so that two who look at the same objects share an index. */
function ownerName(object: KubeObject): string[] {
  const found = clusterOwnerOf(object, object.metadata?.labels?.[OWNER_DOMAIN_LABEL] ?? '');
  return found
    ? [ownerKey({ group: parseApiVersion(found.apiVersion).group, kind: found.kind }, requestFor(found))]
    : [];
}

function ownerKey(
  { group, kind }: { group: string; kind: string },
  { cluster, namespace = '', name }: Request,
): string {
  return [group, kind, cluster, namespace, name].join('\0');
}

function undefinedWhereGone(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
